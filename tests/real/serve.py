#!/usr/bin/env python3
"""serve - a llama.cpp server on loopback, for `make real`

usage: serve.py MODEL.gguf chat|embed

Prints its address, serves until its standard input ends, then exits.
"""
import os
import sys

import xllamacpp


def main():
    path, purpose = sys.argv[1:]
    params = xllamacpp.CommonParams()
    params.model.path = path
    params.model_alias = {"smollm2"}
    params.hostnames = ["127.0.0.1"]
    params.port = 0
    params.n_parallel = 4
    params.n_ctx = 4 * 2048
    params.use_jinja = True
    with open(os.path.join(os.path.dirname(__file__), "template.jinja"),
              encoding="utf-8") as template:
        params.chat_template = template.read()  # the model's own has no tools
    params.endpoint_slots = True
    params.warmup = False
    params.sampling.temp = 0    # the same answers every time
    # One thread that does not spin: this machine also runs the clients.
    for cpu in params.cpuparams, params.cpuparams_batch:
        cpu.n_threads = 1
        cpu.poll = 0
    params.embedding = purpose == "embed"
    if params.embedding:
        pooling = xllamacpp.llama_pooling_type
        params.pooling_type = pooling.LLAMA_POOLING_TYPE_MEAN
    server = xllamacpp.Server(params)
    print("address", server.listening_address, flush=True)
    sys.stdin.read()
    os._exit(0)         # the server's threads do not end by themselves


main()
