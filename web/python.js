// The worker that runs Python, seen from the page.

const here = new URL(".", import.meta.url).href;
const LIMIT = 10_000; // milliseconds that a request may take

/** A request that was stopped, by whom and why in its message. */
export class Stopped extends Error {}

export class Python {
  /** files: the built files, by what they are. told: called with "starting", "busy", "idle", or "failed" for good; with
   * "starting" {progress: up to 1, text}. */
  constructor(files, told) {
    this.files = files;
    this.told = told;
    this.waiting = new Map();
    this.last = 0; // the number of the last message
    this.turn = Promise.resolve(); // when the next request may go
    this.start();
  }

  start() {
    this.told("starting");
    const { worker, lock, bytes, ...others } = this.files;
    const text = `import ${JSON.stringify(here + worker)}`;
    const address = URL.createObjectURL(new Blob([text], { type: "text/javascript" }));
    this.worker = new Worker(address, { type: "module" });
    this.worker.addEventListener("message", ({ data }) => this.take(data));
    this.worker.addEventListener("error", () => this.told("failed"));
    this.first = this.last + 1;
    const addresses = Object.fromEntries(Object.entries(others).map(([what, name]) => [what, here + name]));
    this.ready = this.send({ files: { lock, bytes, ...addresses }, request: { do: "start" } });
    this.ready.then(() => this.told("idle"), () => {});
  }

  /** What the driver answers to a request, one after the other; null where isWanted() says no when
   * its turn comes. Rejects with Stopped. */
  ask(request, isWanted) {
    const answer = this.turn.then(() => this.ready).then(() => (isWanted() ? this.timed(request) : null));
    this.turn = answer.catch(() => {});
    return answer;
  }

  async timed(request) {
    const { worker } = this;
    this.told("busy");
    const clock = setTimeout(() => this.stop(`stopped after ${LIMIT / 1000} seconds`), LIMIT);
    try {
      return await this.send({ request });
    } finally {
      clearTimeout(clock);
      if (worker === this.worker) this.told("idle");
    }
  }

  send(message) {
    const id = ++this.last;
    return new Promise((resolve, reject) => {
      this.waiting.set(id, { resolve, reject });
      this.worker.postMessage({ id, ...message });
    });
  }

  take({ id, answer, failed, progress, text }) {
    if (progress) return this.told("starting", { progress, text });
    const asked = this.waiting.get(id);
    this.waiting.delete(id);
    if (failed) {
      asked.reject(new Stopped(failed));
      if (id === this.first) this.told("failed");
      else this.stop(failed); // nobody knows what state Python is in
    } else asked.resolve(answer);
  }

  /** End the worker, whatever it does, and start another. */
  stop(reason) {
    this.worker.terminate();
    const asked = [...this.waiting.values()];
    this.waiting.clear();
    for (const { reject } of asked) reject(new Stopped(reason));
    this.start();
  }
}
