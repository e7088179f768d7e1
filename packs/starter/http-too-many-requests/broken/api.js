const pause = (seconds) => new Promise((next) => setTimeout(next, seconds * 1000));
// Asks the service; tests bring their own `fetch` and `sleep`.
exports.ask = async (url, fetch = globalThis.fetch, sleep = pause) => {
  const response = await fetch(url);
  if (!response.ok) throw new Error(`HTTP ${response.status} ${response.statusText}: ${url}`);
  return response.text();
};
