# SPDX-License-Identifier: Apache-2.0
"""C2SP signed notes, checkpoints and trust policies, and the hashes of RFC 9162 trees."""
import base64
import hashlib
import re
import struct
from collections import namedtuple

import ed25519

Key = namedtuple("Key", "name kind id key")
KINDS = {1: "log", 4: "witness"}
EMPTY = hashlib.sha256().digest()
MAX_TIME = 253402300799
MAX_NOTE = 65536
NAME = re.compile("[^+ \t\n\v\f\r\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000\ufeff]+")


def decode(text):
    """The bytes of canonical base64; None for any other text."""
    try:
        data = base64.b64decode(text, validate=True)
    except ValueError:
        return None
    return data if base64.b64encode(data).decode() == text else None


def parse_key(text):
    name, _, rest = text.partition("+")
    key_id, _, encoded = rest.partition("+")
    data = decode(encoded)
    if not NAME.fullmatch(name) or data is None or len(data) != 33 or data[0] not in KINDS:
        return None
    if ed25519.small_order(data[1:]):
        return None
    own = hashlib.sha256(name.encode() + b"\n" + data).digest()[:4]
    return Key(name, KINDS[data[0]], own, data[1:]) if own.hex() == key_id else None


def parse_note(text):
    """(text, [(name, bytes)]) of a signed note; None for anything else."""
    end = text.rfind("\n\n")
    if end < 0 or not text.endswith("\n") or re.search("[\x00-\x09\x0b-\x1f]", text):
        return None
    if len(text.encode("utf-16-le")) > 2 * MAX_NOTE:
        return None
    signatures = []
    for line in text[end + 2 : -1].split("\n"):
        dash, _, rest = line.partition(" ")
        name, _, encoded = rest.partition(" ")
        data = decode(encoded)
        if dash != "—" or not NAME.fullmatch(name) or data is None or len(data) < 5:
            return None
        signatures.append((name, data))
    return text[: end + 1], signatures


def parse_checkpoint(text):
    """(origin, size, root) of the text of a checkpoint; None for anything else."""
    lines = text.split("\n")
    if len(lines) < 4 or not lines[0] or lines[-1] or not re.fullmatch("0|[1-9][0-9]{0,15}", lines[1]):
        return None
    if int(lines[1]) >= 2**53:
        return None
    root = decode(lines[2])
    return (lines[0], int(lines[1]), root) if root is not None and len(root) == 32 else None


def signed(note, key):
    """When the key signed the note: 0 for a log, seconds since 1970 for a witness, None without a valid signature."""
    text, signatures = note
    for name, data in signatures:
        if name != key.name or data[:4] != key.id:
            continue
        own, message, time = data[4:], text.encode(), 0
        if key.kind == "witness":
            if len(own) != 72:
                continue
            (time,) = struct.unpack(">Q", own[:8])
            if time > MAX_TIME:
                continue
            own, message = own[8:], ("cosignature/v1\ntime %d\n" % time).encode() + message
        if ed25519.verify(key.key, message, own):
            return time
    return None


class Trust:
    def __init__(self, text):
        self.logs, self.past, self.witnesses, self.groups, self.quorum = [], [], {}, {}, None
        for line in text.splitlines():
            words = line.split("#")[0].split()
            if not words:
                continue
            if words[0] in ("log", "past"):
                (self.logs if words[0] == "log" else self.past).append(parse_key(words[1]))
            elif words[0] == "witness":
                self.witnesses[words[1]] = parse_key(words[2])
            elif words[0] == "group":
                members = words[3:]
                needed = {"all": len(members), "any": 1}.get(words[2]) or int(words[2])
                self.groups[words[1]] = (needed, members)
            elif words[0] == "quorum":
                self.quorum = None if words[1] == "none" else words[1]
            else:
                raise SystemExit("the trust policy has an invalid line: %s" % line)
        if not self.logs or None in self.logs + self.past or None in self.witnesses.values():
            raise SystemExit("the trust policy has no key, or one that is malformed or of small order")

    def log_signed(self, note, origin):
        return any(key.name == origin and signed(note, key) is not None for key in self.logs)

    def signed_before(self, note, origin):
        """Whether a current or a past key of the log signed an earlier checkpoint."""
        return any(key.name == origin and signed(note, key) is not None for key in self.logs + self.past)

    def names(self, origin):
        return any(key.name == origin for key in self.logs + self.past)

    def met(self, note):
        seen = {name for name, key in self.witnesses.items() if signed(note, key) is not None}

        def holds(name):
            if name in self.groups:
                needed, members = self.groups[name]
                return sum(map(holds, members)) >= needed
            return name in seen

        return self.quorum is None or holds(self.quorum)


def node(left, right):
    return hashlib.sha256(b"\x01" + left + right).digest()


def subtrees(first, end):
    """(level, index) of the full subtrees of a range of leaves."""
    found = []
    while first < end:
        level = 0
        while first % 2 ** (level + 1) == 0 and first + 2 ** (level + 1) <= end:
            level += 1
        found.append((level, first >> level))
        first += 1 << level
    return found


class Tree:
    """A tree that grows at its right end, as the hashes of its full subtrees."""

    def __init__(self):
        self.parts = []
        self.size = 0

    def add(self, level, value):
        self.size += 1 << level
        while self.parts and self.parts[-1][0] == level:
            value = node(self.parts.pop()[1], value)
            level += 1
        self.parts.append((level, value))

    def root(self):
        if not self.parts:
            return EMPTY
        value = self.parts[-1][1]
        for _, left in reversed(self.parts[:-1]):
            value = node(left, value)
        return value


def included(leaf, index, size, proof, root):
    """RFC 9162 section 2.1.3.2, from the top of the tree downwards."""

    def up(first, end, rest):
        if end - first == 1:
            return leaf if not rest else None
        if not rest:
            return None
        middle = first + (1 << (end - first - 1).bit_length() - 1)
        if index < middle:
            below = up(first, middle, rest[:-1])
            return below and node(below, rest[-1])
        below = up(middle, end, rest[:-1])
        return below and node(rest[-1], below)

    return 0 <= index < size and up(0, size, proof) == root


def consistent(first, second, proof, old, now):
    """RFC 9162 section 2.1.4.2: computes both roots from the hashes of the proof."""
    if not 0 < first <= second:
        return False
    if first == second:
        return not proof and old == now

    def both(start, end, whole, rest):
        """Hashes over the leaves of the old tree in this range, and over all leaves of the range."""
        if first == end:
            if whole:
                return (old, old) if not rest else None
            return (rest[0], rest[0]) if len(rest) == 1 else None
        if not rest:
            return None
        middle = start + (1 << (end - start - 1).bit_length() - 1)
        if first <= middle:
            below = both(start, middle, whole, rest[:-1])
            return below and (below[0], node(below[1], rest[-1]))
        below = both(middle, end, False, rest[:-1])
        return below and (node(rest[-1], below[0]), node(rest[-1], below[1]))

    return both(0, second, True, proof) == (old, now)
