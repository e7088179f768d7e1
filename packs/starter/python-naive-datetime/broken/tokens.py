from datetime import datetime


def is_expired(token):
    """Whether a token has ended; the service writes ISO times with an offset."""
    return datetime.fromisoformat(token["expires_at"]) < datetime.utcnow()
