// Questions to the server. The last question of a kind wins: older answers are dropped.

let which = "1";

/** Which of two releases the questions are about, "1" or "2". */
export function about(release) {
  which = release;
}

/** The address of an answer; lists are repeated parameters, empty ones are left out. */
export function address(path, parameters = {}) {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(parameters)) {
    for (const one of [value].flat()) {
      if (one !== undefined && one !== null && one !== "") query.append(name, one);
    }
  }
  if (which !== "1" && !path.startsWith("/compare")) query.append("release", which);
  const asked = query.toString();
  return `/api${path}${asked ? `?${asked}` : ""}`;
}

export const csv = (path, parameters = {}) => address(path, { ...parameters, format: "csv" });

/** An answer; throws an Error with the server's own words. */
export async function ask(path, parameters = {}, options = {}) {
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
export function asker() {
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
