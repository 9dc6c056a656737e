"""Writes test/vectors/agentdojo.json: the tools that answer each task and each injection of AgentDojo 0.1.35 (github.com/ethz-spylab/agentdojo), in their order.

    pip install agentdojo==0.1.35 && python test/build/agentdojo/export.py
"""

import json
from pathlib import Path

from agentdojo.task_suite.load_suites import get_suites

VERSION = "v1.2.2"


def tools_of(task, environment):
    if hasattr(task, "init_environment"):
        environment = task.init_environment(environment.model_copy(deep=True))
    return [call.function for call in task.ground_truth(environment)]


suites = {}
for name, suite in get_suites(VERSION).items():
    environment = suite.load_and_inject_default_environment({})
    suites[name] = {
        "user": {key: tools_of(task, environment) for key, task in suite.user_tasks.items()},
        "injection": {key: tools_of(task, environment) for key, task in suite.injection_tasks.items()},
    }
text = json.dumps({"version": VERSION, "suites": suites})
(Path(__file__).parents[2] / "vectors" / "agentdojo.json").write_text(text + "\n")
