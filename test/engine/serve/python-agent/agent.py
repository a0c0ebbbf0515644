"""A small agent with nothing but the standard library, written as an outside developer would write it.

It dumps whole models (nulls included), writes times without a zone, floats as json.dumps does, and a verb on every step.
Prints one JSON object: the answers it got, by name.
"""
import datetime
import json
import sys
import urllib.error
import urllib.request
from dataclasses import asdict, dataclass
from typing import Any, Optional

URL = sys.argv[1]
ANSWERS: list[dict[str, Any]] = []


@dataclass
class Step:
    step_type: str
    task_id: Optional[str] = None
    agent_id: Optional[str] = None
    timestamp: Optional[str] = None
    step: Optional[int] = None
    verb: Optional[str] = None
    step_name: Optional[str] = None
    input: Optional[dict] = None
    output: Optional[dict] = None
    properties: Optional[dict] = None
    meta: Optional[dict] = None


@dataclass
class Context:
    agent_id: str = "python-agent"
    environment: str = "development"
    task_id: Optional[str] = None
    risk_classification: Optional[str] = None
    declared_tools: Optional[list] = None
    agent_allowed_tools: Optional[list] = None
    project_root: Optional[str] = None


def now() -> str:
    return datetime.datetime(2026, 1, 5, 9, 0, 0, 123456).isoformat()


def post(name: str, path: str, body: dict) -> dict:
    request = urllib.request.Request(URL + path, json.dumps(body).encode(), {"Content-Type": "application/json"})
    try:
        with urllib.request.urlopen(request) as response:
            status, answer = response.status, json.load(response)
    except urllib.error.HTTPError as error:
        status, answer = error.code, json.load(error)
    ANSWERS.append({"name": name, "status": status, "answer": answer})
    return answer


def evaluate(name: str, step: Step) -> dict:
    return post(name, "/evaluate", {"intended": asdict(step), "context": asdict(Context()), "reserve": None})


def record(name: str, step: Step) -> dict:
    return post(name, "/record", {"step": asdict(step)})


def main() -> None:
    task = "python-task"
    post("register", "/register_agent", {"agent_key": "python-agent", "name": "Python", "purpose": None, "owner_id": "me",
                                         "risk_classification": None, "environment": None, "declared_tools": None})
    record("start", Step("task.start", task, timestamp=now()))
    model = Step("step.model", task, verb="POST", step_name="model", timestamp=now(),
                 input={"temperature": 0.7, "seed": 1e20, "tiny": 5e-324, "ratio": 1 / 3, "price": 1e16, "none": None},
                 properties={"usage": {"total_tokens": 1200, "cost_usd": 1.5e-05}})
    evaluate("model", model)
    record("model done", model)
    command = Step("step.exec", task, verb="POST", step_name="shell", timestamp=now(),
                   properties={"exec": {"command": "ls -l"}, "cwd": None})
    evaluate("command", command)
    record("gate", Step("step.gate", task, verb="GET", timestamp="2026-01-05 09:00:01",
                        properties={"guard": {"check_type": "review", "result": "passed"}}))
    evaluate("command after a gate", command)
    command.output = {"exit_code": 0, "seconds": 0.1 + 0.2}
    record("command done", command)
    record("end", Step("task.end", task, timestamp=now(), verb="POST"))
    post("end_task", "/end_task", {"task_id": task})
    evaluate("command in a new task of the same id", Step("step.exec", task, verb="POST"))
    print(json.dumps(ANSWERS))


main()
