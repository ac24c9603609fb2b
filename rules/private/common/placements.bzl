"""Placements: labels of single files, each with a path."""

load("//rules/shared:names.bzl", "shown")

visibility(["//rules/..."])

def check_path(label, path, what):
    """Fails unless a path is relative and normalized, so that equal places have equal paths.

    Args:
        label: Label of the target, for the error.
        path: string.
        what: string: what the path is of.
    """
    parts = path.split("/")
    if not path or [part for part in parts if part in ["", ".", ".."]]:
        fail("{}: {} {}: expected a relative path without '..', '.' or empty parts".format(shown(label), what, repr(path)))

def one_file(label, target, path):
    """Returns the file of a target that is placed at a path; fails unless the target has exactly one.

    Args:
        label: Label of the target that places it, for the error.
        target: Target.
        path: string.

    Returns:
        File.
    """
    files = target[DefaultInfo].files.to_list()
    if len(files) != 1 or files[0].is_directory:
        fail("{}: {} gives {}; expected one regular file, to be placed at {}. Name a file, or a target with a single output".format(shown(label), shown(target.label), files, path))
    return files[0]

def placed(path, file, label, what = "path", is_directory = False):
    """Makes the record of something that lies at a path.

    Args:
        path: string.
        file: File, or None for what has none, such as a link.
        label: Label that it comes from, or a string that says what it is.
        what: string: what the path is of, for errors.
        is_directory: whether others may lie in it.

    Returns:
        struct.
    """
    return struct(path = path, file = file, is_directory = is_directory, name = label if type(label) == "string" else shown(label), what = what)

def by_path(label, places):
    """Returns {path: what is there}; fails for duplicate paths, and for a path below a file.

    Args:
        label: Label of the target, for errors.
        places: list of `placed`.

    Returns:
        dict of string to `placed`, in the order of `places`.
    """
    found = {}
    for place in places:
        check_path(label, place.path, place.what)
        other = found.get(place.path)
        if other and (other.file != place.file or not place.file):
            fail("{}: {} and {} are both placed at {}; expected one file per path. Change one of the paths".format(shown(label), other.name, place.name, place.path))
        found[place.path] = place
    for place in places:
        parts = place.path.split("/")
        for length in range(1, len(parts)):
            other = found.get("/".join(parts[:length]))
            if other and not other.is_directory:
                fail("{}: {} is placed at {}, and {} below it, at {}; expected a file or a directory. Change one of the paths".format(shown(label), other.name, other.path, place.name, place.path))
    return found
