"""One call with the official Python SDK, asked for as JSON in argv[1], told as JSON on stdout."""

import json
import sys

from openai import OpenAI

ask = json.loads(sys.argv[1])
client = OpenAI(base_url=ask["url"] + "/v1", api_key=ask["credential"], timeout=ask["timeoutMs"] / 1000)
id, finish = None, None
try:
    answer = client.chat.completions.create(
        model=ask["model"],
        messages=[{"role": "user", "content": ask["prompt"]}],
        max_tokens=ask["maxTokens"],
        stream=ask["stream"],
    )
    for part in answer if ask["stream"] else [answer]:
        id = part.id
        finish = part.choices[0].finish_reason if part.choices else finish
    print(json.dumps({"id": id, "delivered": finish == "length"}))
except Exception as error:
    print(json.dumps({"id": id, "delivered": False, "error": f"{type(error).__name__}: {error}"}))
