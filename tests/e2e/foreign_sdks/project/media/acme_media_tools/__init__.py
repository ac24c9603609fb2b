"""The programs of Acme Media, in the tree `_acme_media_tools` beside this package."""
