#!/usr/bin/env python3
"""test_catalog - data/catalog.json is generated, and compiled into C"""
import json
import os
import subprocess
import sys

from program import SOURCE, equal, file, holds, main

TOOLS = os.path.join(SOURCE, "tools")
TABLE = {
    "sample_spec": {"litellm_provider": "one of many", "mode": "one of these"},
    "gpt-7": {
        "litellm_provider": "openai", "mode": "responses",
        "max_input_tokens": 272000, "max_output_tokens": 128000.0,
        "input_cost_per_token": 1.25e-06, "output_cost_per_token": 1e-05,
        "cache_read_input_token_cost": 1.25e-07,
        "cache_creation_input_token_cost": 1.5625e-06,
        "input_cost_per_token_above_272k_tokens": 2.5e-06,
        "output_cost_per_token_above_272k_tokens": 1.5e-05,
        "supports_function_calling": True, "supports_vision": False,
        "supports_reasoning": None, "source": "https://example.org"},
    "gpt-7-2026-01-02": {
        "litellm_provider": "openai", "mode": "chat",
        "max_input_tokens": 272000, "max_output_tokens": 128000,
        "input_cost_per_token": 1.25e-06, "output_cost_per_token": 1e-05,
        "cache_read_input_token_cost": 1.25e-07,
        "cache_creation_input_token_cost": 1.5625e-06,
        "input_cost_per_token_above_272k_tokens": 2.5e-06,
        "output_cost_per_token_above_272k_tokens": 1.5e-05,
        "supports_function_calling": True, "supports_vision": False},
    "gpt-6.5": {"litellm_provider": "openai", "mode": "chat",
                "input_cost_per_token": 1e-06,
                "deprecation_date": "2027-02-03"},
    "gpt-8": {"litellm_provider": "openai", "mode": "chat",
              "input_cost_per_token": 1e-06, "deprecation_date": "2026-02-03"},
    "ft:gpt-6.5": {"litellm_provider": "openai", "mode": "chat",
                   "input_cost_per_token": 3e-06},
    "low/1024-x-1024/gpt-image-9": {
        "litellm_provider": "openai", "mode": "image_generation",
        "output_cost_per_image": 0.01},
    "gpt-image-9": {"litellm_provider": "openai", "mode": "image_generation",
                    "output_cost_per_image": 0.04},
    "tts-9": {"litellm_provider": "openai", "mode": "audio_speech",
              "input_cost_per_token": 1e-06},
    "nothing-known": {"litellm_provider": "openai", "mode": "chat"},
    "mistral/embed-9": {"litellm_provider": "mistral", "mode": "embedding",
                        "max_input_tokens": 8192, "output_vector_size": 1024,
                        "input_cost_per_token": 1e-07,
                        "output_cost_per_token": 0},
    "perplexity/openai/gpt-7": {
        "litellm_provider": "perplexity", "mode": "responses",
        "input_cost_per_token": 1e-06},
    "azure/eu/gpt-7": {"litellm_provider": "azure", "mode": "chat",
                       "input_cost_per_token": 1e-06},
    "elsewhere/m": {"litellm_provider": "elsewhere", "mode": "chat",
                    "input_cost_per_token": 1e-06},
}


def run(*command):
    return subprocess.run(command, capture_output=True, text=True)


def test_update():
    """catalog-update copies the models of the providers that we know"""
    table = file("table.json", json.dumps(TABLE))
    made = run(sys.executable, os.path.join(TOOLS, "catalog-update"), table,
               "2026-11-16")
    document = json.loads(made.stdout)
    equal(document["updated"], "2026-11-16")
    names = [m["provider"] + ":" + m["id"] for m in document["models"]]
    equal(names, ["openai:gpt-7", "openai:gpt-6.5", "openai:gpt-8",
                  "openai:gpt-image-9", "mistral:embed-9",
                  "perplexity_responses:openai/gpt-7"])
    equal(document["models"][0], {
        "provider": "openai", "id": "gpt-7", "aliases": ["gpt-7-2026-01-02"],
        "capabilities": {"tools": {"enabled": True}, "vision": False},
        "limits": {"context": 272000, "output": 128000},
        "pricing": {"input": 1.25, "output": 10, "cached": 0.125,
                    "cache_write": 1.5625,
                    "long": {"above": 272000, "input": 2.5, "output": 15}},
        "metadata": {"mode": "chat"}})
    equal(document["models"][1]["metadata"],
          {"mode": "chat", "deprecated": "2027-02-03"})
    equal(document["models"][3]["pricing"], {"image": 0.04})
    equal(document["models"][4], {
        "provider": "mistral", "id": "embed-9",
        "limits": {"context": 8192, "dimensions": 1024},
        "pricing": {"input": 0.1}, "metadata": {"mode": "embedding"}})


def test_one_line_each():
    """data/catalog.json has one line per model, so diffs are readable"""
    with open(os.path.join(SOURCE, "data", "catalog.json")) as text:
        lines = [line for line in text if line.startswith('{"provider":')]
    for line in lines:
        json.loads(line.rstrip(",\n"))
    assert len(lines) > 1000


def test_embed():
    """embed-catalog rejects input that would make wrong tables"""
    def embed(*lines):
        path = file("data.json", "\n".join(lines) + "\n")
        return run(os.path.join(TOOLS, "embed-catalog"), path)
    model = '{"provider":"%s","id":"%s"},'
    made = embed('"updated": "2026-01-01",', model % ("a", "y"),
                 model % ("a", "x"), model % ("b", "x"))
    equal(made.returncode, 0)
    holds(made.stdout, "catalog_rows[]", "generated by tools/embed-catalog")
    for lines, why in (
            (["{}"], "there are no models"),
            ([model % ("a", "x"), model % ("b", "x"), model % ("a", "y")],
             "the models of a must be adjacent"),
            (['{"provider":"a","id":"x\\n"}'], "an escape"),
            (['{"provider":"a","name":"x"}'], "must begin with"),
            (['{"provider":"a","id":"x",'], "on one line")):
        made = embed(*lines)
        assert made.returncode, why
        holds(made.stderr, "data.json", why)


main(globals())
