# SPDX-License-Identifier: Apache-2.0
"""A second verifier of proof bundles, written apart from the first: python3 verify.py BUNDLE TRUST [SINCE].

Prints {"valid", "codes", "entries", "payloads"} and exits with 0 or 1.
"""
import hashlib
import hmac
import json
import re
import struct
import sys
import zlib
from datetime import datetime

from jcs import NotJson, canonical, parse
from notes import EMPTY, Tree, Trust, consistent, included, parse_checkpoint, parse_key, parse_note, signed, subtrees

LISTED = ["VERIFY.md", "checkpoint.note", "checkpoints.jsonl", "records.jsonl", "payloads.jsonl", "policy_sets.jsonl",
          "authority.jsonl", "leaves.bin", "nodes.bin"]
HEX = re.compile("[0-9a-f]{64}")
TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z")
ENVELOPE = {"v", "type", "org_id", "received_at", "data", "after"}
LEAF = ENVELOPE | {"subject_id"}
STEP = ENVELOPE | {"agent_id", "task_id", "seq", "step", "step_type", "timestamp", "is_external_call",
                   "has_write_permission", "api_key_id", "policy_set", "evaluation", "prev_hash"}
OTHERS = {"incident", "event", "erasure", "prune", "key", "report"}


class Broken(Exception):
    """Nothing further can be said of the bundle."""


def sha(data):
    return hashlib.sha256(data).hexdigest()


def is_hash(value):
    return isinstance(value, str) and HEX.fullmatch(value) is not None


def is_time(value):
    if not isinstance(value, str) or not TIME.fullmatch(value):
        return False
    try:
        datetime.strptime(value, "%Y-%m-%dT%H:%M:%S.%fZ")
        return True
    except ValueError:
        return False


def is_past_of(origin, name):
    """Whether the name is the log's own or that of an earlier incarnation of it."""
    own, other = (re.fullmatch(r"(.+)/([1-9][0-9]{0,14})", one) for one in (origin, name))
    return bool(own and other and other[1] == own[1] and int(other[2]) <= int(own[2]))


def is_count(value, least=0):
    return isinstance(value, int) and not isinstance(value, bool) and value >= least


class Zip:
    """The one way in which a bundle is written as a zip."""

    def __init__(self, path):
        with open(path, "rb") as file:
            self.data = data = file.read()
        if len(data) < 22 or data[-22:-18] != b"PK\x05\x06":
            raise Broken("not_a_bundle")
        length, start = struct.unpack("<II", data[-10:-2])
        if start + length + 22 != len(data):
            raise Broken("not_a_bundle")
        self.files, at, expected, directory = {}, start, b"", b""
        position = 0
        while at < start + length:
            method, = struct.unpack_from("<H", data, at + 10)
            sizes = struct.unpack_from("<III", data, at + 16)
            count, = struct.unpack_from("<H", data, at + 28)
            name = data[at + 46 : at + 46 + count]
            about = struct.pack("<HHHHHIIIHH", 20, 0x800, 8 if method == 8 else 0, 0, 0x21, *sizes, count, 0)
            header = b"PK\x03\x04" + about + name
            if data[position : position + len(header)] != header:
                raise Broken("bytes_altered")
            begin = position + len(header)
            self.files[name.decode("latin1")] = (method == 8, data[begin : begin + sizes[1]], sizes[0], sizes[2])
            directory += b"PK\x01\x02" + struct.pack("<H", 0x0314) + about + struct.pack(
                "<HHHII", 0, 0, 0, 0o100644 << 16, position) + name
            position = begin + sizes[1]
            at += 46 + count
        end = b"PK\x05\x06" + struct.pack("<HHHHIIH", 0, 0, len(self.files), len(self.files), length, start, 0)
        if not self.files:
            raise Broken("not_a_bundle")
        if data[start:] != directory + end or position != start:
            raise Broken("bytes_altered")

    def packed(self, name):
        return self.files[name][1]

    def content(self, name):
        deflated, packed, crc, size = self.files[name]
        try:
            content = zlib.decompress(packed, -15, max(size, 1)) if deflated else packed
        except zlib.error:
            raise Broken("bytes_altered") from None
        if len(content) != size or zlib.crc32(content) != crc:
            raise Broken("bytes_altered")
        return content

    def lines(self, name):
        content = self.content(name)
        if content and not content.endswith(b"\n"):
            raise Broken("not_a_bundle")
        return content.split(b"\n")[:-1]


class Bundle:
    def __init__(self, path, trust, since):
        self.codes, self.entries = [], {}
        self.payloads = {"present": 0, "erased": 0, "pruned": 0}
        try:
            self.zip = Zip(path)
            self.read_manifest(trust)
            self.read_checkpoints(trust, since)
            self.read_removals()
            self.walk()
        except Broken as error:
            self.codes.append(str(error))
        except (ValueError, TypeError, KeyError, AttributeError):
            self.codes.append("not_a_bundle")

    def read_manifest(self, trust):
        if list(self.zip.files) != LISTED + ["manifest.json", "manifest.note"]:
            raise Broken("bytes_altered")
        text = self.zip.content("manifest.json")
        try:
            self.manifest = manifest = parse(text.decode())
            note = parse_note(self.zip.content("manifest.note").decode())
        except ValueError:
            raise Broken("not_a_bundle") from None
        self.origin = manifest["origin"]
        if note is None or note[0] != "svc.bundle/1\n%s\nsha256 %s\n" % (self.origin, sha(text)):
            raise Broken("manifest_altered")
        if not trust.log_signed(note, self.origin):
            raise Broken("untrusted")
        keys = [key for key in map(parse_key, manifest["keys"]) if key]
        for one in note[1]:
            if all(signed((note[0], [one]), key) is None for key in keys):
                raise Broken("bytes_altered")
        for listed in manifest["files"]:
            if sha(self.zip.packed(listed["name"])) != listed["packed_sha256"]:
                raise Broken("bytes_altered")
            if sha(self.zip.content(listed["name"])) != listed["sha256"]:
                raise Broken("bytes_altered")
        self.size, self.root = manifest["checkpoint"]["size"], bytes.fromhex(manifest["checkpoint"]["root"])
        self.first, self.end = manifest["records"]["first"], manifest["records"]["end"]
        self.begin, self.stop = manifest["entries"]["first"], manifest["entries"]["end"]

    def read_checkpoints(self, trust, since):
        note = parse_note(self.zip.content("checkpoint.note").decode())
        if note is None or parse_checkpoint(note[0]) != (self.origin, self.size, self.root):
            raise Broken("checkpoint_invalid")
        if not trust.log_signed(note, self.origin):
            raise Broken("untrusted")
        if not trust.met(note):
            self.codes.append("quorum_missing")
        self.roots = {0: {EMPTY}}
        for line in self.zip.lines("checkpoints.jsonl"):
            listed = self.written(line)
            size, root = listed["size"], bytes.fromhex(listed["root"])
            note = parse_note(listed["note"])
            says = note and parse_checkpoint(note[0])
            if not says or says[1:] != (size, root):
                self.codes.append("checkpoint_invalid")
            elif not is_past_of(self.origin, says[0]):
                self.codes.append("other_log")
            elif any(key.name == says[0] for key in trust.logs) and not trust.log_signed(note, says[0]):
                self.codes.append("checkpoint_unsigned")
            elif "proof" in listed or not self.first < size <= self.end:
                proof = [bytes.fromhex(one) for one in listed.get("proof", [])]
                if consistent(size, self.size, proof, root, self.root):
                    self.roots.setdefault(size, set()).add(root)
                else:
                    self.codes.append("fork")
            else:
                self.roots.setdefault(size, set()).add(root)
        if since is not None:
            self.check_since(parse_note(since), trust)

    def check_since(self, note, trust):
        says = note and parse_checkpoint(note[0])
        if not says or not trust.log_signed(note, says[0]):
            self.codes.append("since_untrusted")
        elif says[0] != self.origin:
            self.codes.append("since_other_log")
        elif says[1] > self.size:
            self.codes.append("log_shrank")
        else:
            known = {self.root} if says[1] == self.size else self.roots.get(says[1])
            if known is None:
                self.codes.append("since_unproven")
            elif says[2] not in known:
                self.codes.append("fork")

    def read_removals(self):
        self.removals = []
        for line in self.zip.lines("authority.jsonl"):
            said = self.written(line)
            leaf = hashlib.sha256(b"\0" + said["record"].encode()).digest()
            proof = [bytes.fromhex(one) for one in said["proof"]]
            if not included(leaf, said["log_index"], self.size, proof, self.root):
                self.codes.append("not_in_log")
                continue
            record = self.record(said["record"])
            values = record and self.opened('{"salts":%s,"values":%s}' % (said["salts"], said["body"]), record)
            if not values or not self.removal(record["type"], values, said["log_index"]):
                self.codes.append("record_invalid")

    @staticmethod
    def written(line):
        """The value of a line that is written in the one way."""
        value = parse(line.decode())
        if canonical(value) != line.decode():
            raise Broken("not_a_bundle")
        return value

    def removal(self, kind, values, place):
        """Takes note of an entry that says what was removed."""
        said = values.get(kind) if kind in ("erasure", "prune") else None
        if not isinstance(said, dict) or not isinstance(said.get("entries"), list):
            return False
        if any(last >= place for _, last in said["entries"]):
            return False
        self.removals.append((kind, said["entries"], said.get("before")))
        return True

    def record(self, text):
        """The record, when it is one and written in the one way; else None."""
        try:
            record = parse(text)
            if not isinstance(record, dict) or canonical(record) != text or record.get("v") != "svc.log/1":
                return None
        except NotJson:
            return None
        kind = record.get("type")
        wanted = STEP if kind == "step" else LEAF if kind in OTHERS else None
        if wanted is None or set(record) - {"client_prev_hash"} != wanted:
            return None
        if kind != "step" and "client_prev_hash" in record:
            return None
        texts = ["org_id", "agent_id", "task_id", "step_type", "timestamp", "api_key_id", "subject_id", "client_prev_hash"]
        after, data = record["after"], record["data"]
        sound = (
            all(isinstance(record[name], str) for name in texts if name in record)
            and is_time(record["received_at"])
            and isinstance(data, dict) and all(map(is_hash, data.values()))
            and isinstance(after, dict) and set(after) == {"root", "size"} and is_hash(after["root"]) and is_count(after["size"])
        )
        if sound and kind == "step":
            flags = [record["is_external_call"], record["has_write_permission"]]
            sound = (is_count(record["seq"], 1) and is_count(record["step"], 1) and all(isinstance(one, bool) for one in flags)
                     and is_hash(record["policy_set"]) and is_hash(record["evaluation"])
                     and (record["prev_hash"] == "" or is_hash(record["prev_hash"])))
        return record if sound else None

    def opened(self, text, record):
        """The values of a payload, None for one that is gone, False for one that is not what was committed to."""
        try:
            payload = parse(text)
            if payload is None:
                return None
            if canonical(payload) != text or set(payload) != {"salts", "values"}:
                return False
            salts, values = payload["salts"], payload["values"]
            committed = dict(record["data"], **({"evaluation": record["evaluation"]} if record["type"] == "step" else {}))
            if not set(committed) == set(salts) == set(values) or not all(map(is_hash, salts.values())):
                return False
        except (NotJson, TypeError, AttributeError):
            return False
        for field, commitment in committed.items():
            message = "svc.payload/1\0%s\0%s" % (field, canonical(values[field]))
            if hmac.new(bytes.fromhex(salts[field]), message.encode(), hashlib.sha256).hexdigest() != commitment:
                return False
        return values

    def walk(self):
        records, payloads = self.zip.lines("records.jsonl"), self.zip.lines("payloads.jsonl")
        leaves, nodes = self.zip.content("leaves.bin"), self.zip.content("nodes.bin")
        left, right = subtrees(0, self.first), subtrees(self.end, self.size)
        count = self.end - self.first
        if (len(records), len(payloads), len(leaves), len(nodes)) != (
                count, self.stop - self.begin, 32 * count, 32 * len(left + right)):
            raise Broken("not_a_bundle")
        hashes = [nodes[at : at + 32] for at in range(0, len(nodes), 32)]
        self.policy_sets = {sha(line) for line in self.zip.lines("policy_sets.jsonl")}
        self.tasks, self.erased, self.pruned, self.used = {}, [], [], set()
        self.last, self.last_after, self.before, self.after = "", 0, None, None
        tree = Tree()
        for (level, _), value in zip(left, hashes):
            tree.add(level, value)
        for at, text in enumerate(records):
            index, leaf = self.first + at, leaves[32 * at : 32 * at + 32]
            tree.add(0, leaf)
            if any(root != tree.root() for root in self.roots.get(tree.size, ())):
                self.codes.append("fork")
            inside = self.begin <= index < self.stop
            self.leaf(index, leaf, text, payloads[index - self.begin].decode() if inside else None)
        for (level, _), value in zip(right, hashes[len(left) :]):
            tree.add(level, value)
        if tree.root() != self.root:
            self.codes.append("root_mismatch")
        self.finish()

    def leaf(self, index, leaf, line, payload):
        if line == b"null":
            self.pruned.append(index)
            return
        if hashlib.sha256(b"\0" + line).digest() != leaf:
            self.codes.append("record_mismatch")
            return
        record = self.record(line.decode())
        if record is None:
            self.codes.append("record_invalid")
            return
        self.place(index, record)
        if record["type"] == "step":
            self.step(record, leaf.hex(), payload is not None)
        if payload is None:
            return
        self.entries[record["type"]] = self.entries.get(record["type"], 0) + 1
        values = self.opened(payload, record)
        if values is False:
            self.codes.append("payload_mismatch")
        elif values is None:
            self.erased.append(index)
        else:
            self.payloads["present"] += 1
            self.removal(record["type"], values, index)

    def place(self, index, record):
        received, after, period = record["received_at"], record["after"], self.manifest["period"]
        if record["org_id"] != self.manifest["org_id"]:
            self.codes.append("other_log")
        if received < self.last:
            self.codes.append("out_of_order")
        self.last = received
        if index < self.begin:
            self.before = received
        elif index >= self.stop:
            self.after = received
        elif (period["from"] or "") > received or (period["to"] or "~") <= received:
            self.codes.append("outside_period")
        known = self.roots.get(after["size"], ())
        if bytes.fromhex(after["root"]) not in known or not self.last_after <= after["size"] <= index:
            self.codes.append("after_mismatch")
        self.last_after = max(self.last_after, after["size"])

    def step(self, record, leaf, inside):
        known = self.tasks.get(record["task_id"])
        if known is None:
            begins = record["seq"] == 1
            if begins != (record["prev_hash"] == "") or not begins and self.first == 0 and not self.pruned:
                self.codes.append("link_broken")
        elif (record["seq"], record["prev_hash"], record["agent_id"]) != (known[0] + 1, known[1], known[2]):
            self.codes.append("link_broken")
            return
        self.tasks[record["task_id"]] = (record["seq"], leaf, record["agent_id"])
        if inside:
            self.used.add(record["policy_set"])
            if record["policy_set"] not in self.policy_sets:
                self.codes.append("policy_set_missing")

    def finish(self):
        period = self.manifest["period"]
        for kind, gone, code in (("erasure", self.erased, "payload_lost"), ("prune", self.pruned, "record_lost")):
            given = [places for one, entries, _ in self.removals if one == kind for places in entries]
            if any(not any(first <= index <= last for first, last in given) for index in gone):
                self.codes.append(code)
        if self.policy_sets - self.used:
            self.codes.append("policy_set_unused")
        self.payloads.update(erased=len(self.erased), pruned=len(self.pruned))
        early = self.before is not None and period["from"] is not None and self.before < period["from"]
        place = self.begin - 1
        cut = self.before is None and self.first == place and any(
            kind == "prune" and before and period["from"] and before <= period["from"]
            and any(first <= place <= last for first, last in entries) for kind, entries, before in self.removals)
        late = self.after is not None and period["to"] is not None and self.after >= period["to"]
        if not (self.begin == 0 or early or cut) or not (self.stop == self.size or late):
            self.codes.append("incomplete")


def main(path, trust, since=None):
    def text(name):
        with open(name, encoding="utf-8") as file:
            return file.read()

    bundle = Bundle(path, Trust(text(trust)), text(since) if since else None)
    print(json.dumps({"valid": not bundle.codes, "codes": sorted(set(bundle.codes)), "entries": bundle.entries,
                      "payloads": bundle.payloads}))
    return 1 if bundle.codes else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
