/** Asks the gateway. The token, where one is needed, lives in this tab's session storage and in nothing else. */

const TOKEN = 'latchkey.token';

export class ApiError extends Error {
  readonly status: number;
  readonly code: string;
  readonly nextStep: string;

  constructor(
    status: number,
    failure: { readonly code?: string; readonly message?: string; readonly nextStep?: string },
  ) {
    super(failure.message ?? `the gateway answered ${status}`);
    this.status = status;
    this.code = failure.code ?? 'unknown';
    this.nextStep = failure.nextStep ?? '';
  }

  /** Asking again would be answered the same; else nobody has said whether it was done. */
  get isRefusal(): boolean {
    return this.status < 500 && this.status !== 429;
  }
}

export class Api {
  /** Asks a person for a token, once for all requests that wait for one. */
  readonly #askToken: (why: string) => Promise<string>;
  #asking: Promise<void> | undefined;

  constructor(askToken: (why: string) => Promise<string>) {
    this.#askToken = askToken;
  }

  get<Answer>(path: string): Promise<Answer> {
    return this.#json('GET', path);
  }

  post<Answer>(path: string, body: object = {}): Promise<Answer> {
    return this.#json('POST', path, body);
  }

  delete<Answer>(path: string): Promise<Answer> {
    return this.#json('DELETE', path);
  }

  /** A response that is all right, or an `ApiError`; a token that is missing is asked for first. */
  async open(path: string, init: RequestInit = {}): Promise<Response> {
    for (;;) {
      const token = sessionStorage.getItem(TOKEN);
      const response = await fetch(path, {
        ...init,
        cache: 'no-store',
        headers: { ...(init.headers as object), ...(token !== null && { authorization: `Bearer ${token}` }) },
      });
      if (response.ok) return response;
      const error = await readFailure(response);
      if (response.status !== 401) throw error;
      // Another request may have brought one in the meantime.
      if (sessionStorage.getItem(TOKEN) === token) await this.#bringToken(error.message);
    }
  }

  async #json<Answer>(method: string, path: string, body?: object): Promise<Answer> {
    const response = await this.open(path, {
      method,
      ...(body !== undefined && { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } }),
    });
    return (await response.json()) as Answer;
  }

  #bringToken(why: string): Promise<void> {
    this.#asking ??= this.#askToken(why)
      .then((token) => sessionStorage.setItem(TOKEN, token))
      .finally(() => (this.#asking = undefined));
    return this.#asking;
  }
}

async function readFailure(response: Response): Promise<ApiError> {
  // A proxy in between answers in words of its own.
  const body = (await response.json().catch(() => ({}))) as { error?: object };
  return new ApiError(response.status, body.error ?? {});
}

/** Holds only until the gateway is there again. */
export const UNREACHED = 'The gateway could not be reached.';

/** One sentence for people, and what to do. */
export function sayFailure(error: unknown): string {
  if (!(error instanceof ApiError)) return UNREACHED;
  const sentence = error.message.replace(/^./, (letter) => letter.toUpperCase()).replace(/([^.!?])$/, '$1.');
  return [sentence, error.nextStep].filter((each) => each !== '').join(' ');
}
