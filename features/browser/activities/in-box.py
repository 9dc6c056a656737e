"""
Runs Chromium in a box without a network: what it asks of its proxy goes through a socket to the worker's. CDP comes on 0 and goes to 1
(Chromium's --remote-debugging-pipe has it on 3 and 4). Arguments: SOCKET PORT CHROMIUM [ARGUMENT...]
"""
import asyncio
import os
import sys


async def pass_on(reader, writer):
    try:
        while data := await reader.read(65536):
            writer.write(data)
            await writer.drain()
    except OSError:
        pass
    finally:
        writer.close()


async def main(path, port, *command):
    async def forward(reader, writer):
        try:
            inner, outer = await asyncio.open_unix_connection(path)
        except OSError:
            return writer.close()
        await asyncio.gather(pass_on(reader, outer), pass_on(inner, writer))

    await asyncio.start_server(forward, '127.0.0.1', int(port))
    child = await asyncio.create_subprocess_exec(*command, pass_fds=(3, 4))
    os.close(3)
    os.close(4)
    return await child.wait()


os.dup2(0, 3)
os.dup2(1, 4)
os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
os.dup2(2, 1)
sys.exit(abs(asyncio.run(main(*sys.argv[1:]))))
