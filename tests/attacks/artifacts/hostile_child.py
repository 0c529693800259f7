"""Takes over the process that answers for it and sends replies that no honest one would send."""
import itertools, sys
frame = sys._getframe()
while frame is not None and "send" not in frame.f_globals:
    frame = frame.f_back
REPLIES = [
    '"v":{"h":[0,"x"]}', '"v":{"r":0}', '"v":NaN', '"v":{"T":"object"}', '"v":{"n":[7,"list",["_fields"],[1]]}',
    '"v":{"k":[8,"int",null]}', '"e":{"outcome":"Skipped","t":"not today"}',
    '"e":{"c":"KeyboardInterrupt","t":"","h":null,"a":null,"s":null}',
    '"e":{"c":"SystemExit","t":"0","h":null,"a":{"t":[0]},"s":{"d":[["code",0]]}}',
    '"e":{"c":[[9,"Exit",["Exception"]]],"t":"x","h":9,"a":{"t":[]},"s":null}',
    '"v":5,"m":[[0,[[1]]],[7,[]],["x",1]]', '"v":{"d":[[{"h":[0,"x"]},1]]}', '"v":1e999',
    '"v":' + "[" * 300 + "]" * 300, '"not":"x"', '"import":"x"', '"absent":"x"', '"died":5', '"v":[1,2',
    '"v":{"x":{"c":"AssertionError","t":"","h":null,"a":{"t":[]},"s":null}}', '"v":{"b":"!"}', '"v":{}',
    '"v":{"w":["datetime",[1,1,1,1,1,1,1],"../../etc/passwd",0]}', '"v":{"__eq__":1}', '"v":{"R":[0,1e9,1]}',
]
if frame is not None:
    replies = itertools.cycle(REPLIES)
    send = frame.f_globals["send"]
    calls = itertools.count()
    def sending(descriptor, data):
        number = next(calls)
        if number < 2:
            return send(descriptor, data)
        head = data.split(b",", 1)[0].decode()
        send(descriptor, f"{head},{next(replies)}}}\n".encode())
    frame.f_globals["send"] = sending
