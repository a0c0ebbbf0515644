# SPDX-License-Identifier: Apache-2.0
"""Records of a log, their payloads, and the entries outside a period that its entries need."""
import hashlib
import hmac
from math import inf

from checks import DAY, is_count, is_hash, is_span, is_time, millis
from jcs import NotJson, canonical, parse

MIN_RETENTION = 184 * DAY
ENVELOPE = {"v", "type", "org_id", "received_at", "data", "after"}
LEAF = ENVELOPE | {"subject_id"}
STEP = ENVELOPE | {"agent_id", "task_id", "seq", "step", "step_type", "timestamp", "is_external_call",
                   "has_write_permission", "api_key_id", "policy_set", "evaluation", "prev_hash"}
OTHERS = {"incident", "event", "erasure", "prune", "key", "report"}


def read_record(text):
    """The record of a valid canonical text; None for any other text."""
    try:
        record = parse(text)
        if not isinstance(record, dict) or canonical(record) != text or record.get("v") != "svc.log/1":
            return None
    except NotJson:
        return None
    kind = record.get("type")
    wanted = STEP if kind == "step" else LEAF if isinstance(kind, str) and kind in OTHERS else None
    if wanted is None or set(record) - {"client_prev_hash"} != wanted:
        return None
    if kind != "step" and "client_prev_hash" in record:
        return None
    texts = ["org_id", "agent_id", "task_id", "step_type", "timestamp", "api_key_id", "subject_id",
             "client_prev_hash"]
    after, data = record["after"], record["data"]
    valid = (
        all(isinstance(record[name], str) for name in texts if name in record)
        and is_time(record["received_at"])
        and isinstance(data, dict) and all(map(is_hash, data.values()))
        and isinstance(after, dict) and set(after) == {"root", "size"}
        and is_hash(after["root"]) and is_count(after["size"])
    )
    if valid and kind == "step":
        flags = [record["is_external_call"], record["has_write_permission"]]
        valid = (is_count(record["seq"], 1) and is_count(record["step"], 1)
                 and all(isinstance(one, bool) for one in flags)
                 and is_hash(record["policy_set"]) and is_hash(record["evaluation"])
                 and (record["prev_hash"] == "" or is_hash(record["prev_hash"])))
    return record if valid else None


def open_payload(text, record):
    """The values of a payload; None once erased; False when it does not open its commitments."""
    try:
        payload = parse(text)
    except NotJson:
        return False
    if canonical(payload) != text:
        return False
    if payload is None:
        return None
    if not isinstance(payload, dict) or set(payload) != {"salts", "values"}:
        return False
    salts, values = payload["salts"], payload["values"]
    committed = dict(record["data"], **({"evaluation": record["evaluation"]} if record["type"] == "step" else {}))
    if not isinstance(salts, dict) or not isinstance(values, dict):
        return False
    if not set(committed) == set(salts) == set(values) or not all(map(is_hash, salts.values())):
        return False
    for field, commitment in committed.items():
        message = "svc.payload/1\0%s\0%s" % (field, canonical(values[field]))
        if hmac.new(bytes.fromhex(salts[field]), message.encode(), hashlib.sha256).hexdigest() != commitment:
            return False
    return values


def read_authorization(record, values, log_index):
    """(kind, spans, before) of an erasure or a prune; None for any other entry."""
    kind = record["type"]
    declared = values.get(kind) if kind in ("erasure", "prune") else None
    if not isinstance(declared, dict):
        return None
    done = "erased" if kind == "erasure" else "pruned"
    if not all(isinstance(declared.get(name), str) for name in ("id", done + "_by", done + "_at", "legal_basis")):
        return None
    spans, before = declared.get("entries"), inf if kind == "erasure" else millis(declared.get("before"))
    if not isinstance(spans, list) or not all(is_span(one, log_index) for one in spans):
        return None
    if kind == "prune" and (before is None or before > millis(record["received_at"]) - MIN_RETENTION):
        return None
    return kind, spans, before


def is_report(record, values):
    """Whether an entry records an issued report."""
    report = values.get("report") if record["type"] == "report" else None
    if not isinstance(report, dict):
        return False
    agents = report.get("agent_ids")
    return (all(isinstance(report.get(name), str) for name in ("id", "format"))
            and (agents is None or isinstance(agents, list) and all(isinstance(one, str) for one in agents))
            and all(is_time(report.get(name)) for name in ("from", "to")) and is_count(report.get("cut_off"))
            and all(is_hash(report.get(name)) for name in ("root", "sha256")))


def has_facts(record, values):
    """Whether an entry holds the facts of an agent."""
    event = values.get("event") if record["type"] == "event" else None
    if not isinstance(event, dict) or event.get("subject_kind") != "agent":
        return False
    data = event.get("data")
    return (isinstance(event.get("subject_id"), str) and isinstance(data, dict)
            and isinstance(data.get("facts"), dict))
