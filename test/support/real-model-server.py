"""Serves one GGUF file over OpenAI's chat protocol: a request at a time, streamed, with the tokens that were really read and made.

Prints its address when it is ready, and a line for each answer that ends before its time. llama_cpp's own server counts no tokens of
a streamed answer.
"""

import json
import sys
from http.server import BaseHTTPRequestHandler, HTTPServer

from llama_cpp import Llama

MODEL = Llama(model_path=sys.argv[1], n_ctx=4096, verbose=False)


class Handler(BaseHTTPRequestHandler):
    def do_POST(self):
        asked = json.loads(self.rfile.read(int(self.headers["content-length"])))
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.end_headers()
        made = 0
        try:
            # The file is too small a model for tools; what is offered is not passed on.
            for chunk in MODEL.create_chat_completion(
                messages=[{"role": "user" if m["role"] == "tool" else m["role"], "content": words(m)} for m in asked["messages"]],
                max_tokens=asked.get("max_tokens") or asked.get("max_completion_tokens") or 512,
                temperature=0,
                stream=True,
            ):
                made += "content" in chunk["choices"][0]["delta"]
                self.send(chunk)
            usage = {"prompt_tokens": MODEL.n_tokens - made, "completion_tokens": made, "total_tokens": MODEL.n_tokens}
            self.send({**chunk, "choices": [], "usage": usage})
            self.wfile.write(b"data: [DONE]\n\n")
        except (BrokenPipeError, ConnectionResetError):
            print(f"stopped after {made} tokens", flush=True)
        self.close_connection = True

    def send(self, chunk):
        self.wfile.write(f"data: {json.dumps(chunk)}\n\n".encode())
        self.wfile.flush()

    def log_message(self, *_):
        pass


def words(message):
    content = message["content"] or ""
    return content if isinstance(content, str) else "".join(part.get("text", "") for part in content)


server = HTTPServer(("127.0.0.1", 0), Handler)
print(f"http://127.0.0.1:{server.server_address[1]}/v1", flush=True)
server.serve_forever()
