"""The one error of the catalog."""


class CatalogError(Exception):
    """The artifacts cannot be used; the message names the file and the remedy."""
