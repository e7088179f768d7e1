def with_tag(tag, tags=[]):
    """The tags with one more."""
    tags.append(tag)
    return tags
