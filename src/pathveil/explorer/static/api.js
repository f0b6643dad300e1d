// Questions to the server about one release. The last question of a kind wins: older ones are dropped.

/** The ways to ask about one of two releases, "1" or "2"; whoever holds them asks about no other. */
export function about(release) {
  /** The address of an answer; lists are repeated parameters, empty ones are left out. */
  function address(path, parameters = {}) {
    const query = new URLSearchParams();
    for (const [name, value] of Object.entries(parameters)) {
      for (const one of [value].flat()) {
        if (one !== undefined && one !== null && one !== "") query.append(name, one);
      }
    }
    if (release !== "1" && !path.startsWith("/compare")) query.append("release", release);
    const asked = query.toString();
    return `/api${path}${asked ? `?${asked}` : ""}`;
  }

  const csv = (path, parameters = {}) => address(path, { ...parameters, format: "csv" });

  /** An answer; throws an Error with the server's own words. */
  async function ask(path, parameters = {}, options = {}) {
    let response;
    try {
      response = await fetch(address(path, parameters), options);
    } catch (error) {
      if (error.name === "AbortError") throw error;
      throw new Error("The explorer does not answer any more; start it again.");
    }
    const answer = await response.json();
    if (!response.ok) throw new Error(answer.error);
    return answer;
  }

  /** A function that asks and forgets the question before, if that is still open; so does forget(). */
  function asker() {
    let open = null;
    const forget = () => open?.abort();
    return Object.assign(async (path, parameters) => {
      forget();
      const mine = (open = new AbortController());
      try {
        return await ask(path, parameters, { signal: mine.signal });
      } catch (error) {
        if (error.name === "AbortError") return new Promise(() => {}); // nobody waits for it
        throw error;
      }
    }, { forget });
  }

  return { ask, asker, csv };
}
