"""Asks once through the official OpenAI SDK, as told in JSON on standard input; prints what came back."""

import json
import sys

from openai import OpenAI

told = json.load(sys.stdin)
client = OpenAI(base_url=told["url"] + "/v1", api_key=told["credential"], timeout=told["seconds"])
try:
    answer = client.chat.completions.create(**told["body"])
    if told["body"].get("stream"):
        parts = list(answer)
        text = "".join(part.choices[0].delta.content or "" for part in parts if part.choices)
        found = {"id": parts[0].id, "text": text, "finish": parts[-1].choices[0].finish_reason}
    else:
        choice = answer.choices[0]
        found = {"id": answer.id, "text": choice.message.content, "finish": choice.finish_reason}
except Exception as error:
    found = {"error": f"{type(error).__name__}: {error}"}
print(json.dumps(found))
