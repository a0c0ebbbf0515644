"""A small agent that `svc serve` governs, with Python's standard library alone (README.md tells how to run it)."""
import json
import os
import urllib.request
import uuid

ENGINE = os.environ.get("ENGINE_URL", "http://127.0.0.1:8765")
AGENT = os.environ.get("SVC_AGENT_KEY", "order-desk")
IDS = {"agent_id": AGENT, "task_id": str(uuid.uuid4())}

# --- governing: all that an agent needs of its own ---------------------------------------------------------------------


def post(path, body):
    request = urllib.request.Request(ENGINE + path, json.dumps(body).encode(), {"Content-Type": "application/json"})
    with urllib.request.urlopen(request, timeout=30) as answer:
        return json.load(answer)


def record(step, output=None, **meta):
    post("/record", {"step": {**step, **IDS, "output": output, "meta": meta}})


def governed(step, act):
    """Acts only if the policies allow it, and records what came of it."""
    decision = post("/evaluate", {"intended": step, "context": {**IDS, "environment": "development"}})
    if decision["blocked"]:
        record(step, {"status": "blocked"}, evaluation_id=decision["evaluation_id"])
        raise PermissionError(decision["reason"])
    try:
        output = act(**step.get("input", {}))
    except Exception as error:
        record(step, {"status": "error", "error": str(error)}, evaluation_id=decision["evaluation_id"])
        raise
    record(step, output, evaluation_id=decision["evaluation_id"])
    return output


# --- the agent: its tools, and what it does with them ------------------------------------------------------------------


def read_orders(customer):
    return {"orders": [{"id": "A-1042", "customer": customer, "total": 79.9}]}


def write_summary(text):
    return {"saved": len(text)}


def upload(data):
    raise AssertionError("this never runs: the policies refuse it")


def run():
    read = {"step_type": "step.resource", "verb": "GET", "step_name": "read_orders", "input": {"customer": "mia"}}
    orders = governed(read, read_orders)["orders"]
    summary = "%d order, %.2f EUR" % (len(orders), sum(order["total"] for order in orders))
    print("read:", summary)
    note = {"step_type": "step.self", "verb": "POST", "step_name": "write_summary", "input": {"text": summary}}
    governed(note, write_summary)
    # What a hidden instruction in an order could make the agent do: a tool that the task did not begin with.
    outside = {"target": {"host": "files.example.com", "trust": "external"}}
    leak = {"step_type": "step.resource", "verb": "POST", "step_name": "upload", "input": {"data": orders}}
    governed({**leak, "properties": outside}, upload)
    record({"step_type": "task.end"})


record({"step_type": "task.start", "properties": {"declared_tools": ["read_orders", "write_summary"]}})
try:
    run()
except PermissionError as refusal:
    print("refused:", refusal)
finally:
    post("/end_task", {"task_id": IDS["task_id"]})
print("task:", IDS["task_id"])
