# SPDX-License-Identifier: Apache-2.0
"""Restarts of a log after a restore, compared with the checkpoints that were signed before."""
import re

from checks import is_count, is_hash


def read_restart(record, values, log_index):
    """The restart that an entry declares; None for any other entry."""
    event = values.get("event") if record["type"] == "event" else None
    if not isinstance(event, dict) or event.get("kind") != "log.restarted":
        return None
    data, actor = event.get("data"), event.get("actor")
    if not isinstance(data, dict) or not isinstance(actor, dict):
        return None
    texts = [data.get("origin"), data.get("old_origin"), data.get("reason"), event.get("at"), actor.get("kind"),
             actor.get("id")]
    size, root, kept = data.get("old_size"), data.get("old_root", 0), data.get("kept_size")
    if not all(isinstance(text, str) for text in texts) or not is_count(size):
        return None
    if not (size == 0 if root is None else is_hash(root)) or not (kept is None or is_count(kept)):
        return None
    return {"log_index": log_index, "origin": texts[0], "old": texts[1], "size": size,
            "root": None if root is None else bytes.fromhex(root),
            "accepted": data.get("accepted_changed_entries") is True}


def epoch(origin):
    found = re.fullmatch(r"(.+)/([1-9][0-9]{0,14})", origin)
    return (found[1], int(found[2])) if found else None


def verify_restart(restart, origin, signed, root_at):
    """(codes, entries that are gone, state of the others)."""
    codes = []
    own, new, old = epoch(origin), epoch(restart["origin"]), epoch(restart["old"])
    if not (own and new and old and own[0] == new[0] == old[0] and old[1] < new[1] <= own[1]):
        codes.append("restart_mismatch")
    for name, size, root in signed:
        differs = size == restart["size"] and size > 0 and root != restart["root"]
        if name == restart["old"] and (size > restart["size"] or differs):
            codes.append("restart_mismatch")
    gone = max(0, restart["size"] - restart["log_index"])
    roots = root_at(restart["size"]) if gone == 0 and restart["size"] > 0 else {restart["root"]}
    has_changed = bool(roots) and restart["root"] not in roots
    if has_changed and not restart["accepted"]:
        codes.append("entries_changed")
    if restart["accepted"] or has_changed:
        return codes, gone, "changed"
    return codes, gone, "not_shown" if gone > 0 or not roots or None in roots else "unchanged"
