/** What an HTTP answer means: the verb's answer, a structured refusal, or no word at all. */
import type { z } from 'zod';
import { toSafeText } from '../contract/well-formed.ts';
import { errorAnswerSchema } from '../contract/wire/envelope.ts';
import type { Target } from '../contract/target.ts';
import { AgentError, AgentUnreachable } from './agent-errors.ts';

const QUOTED_CHARACTERS_MAX = 200;

/** Throws `AgentError` or `AgentUnreachable`; unknown fields and versions count as no word (A13). */
export function readAnswer<Answer extends Target>(
  http: { status: number; body: string },
  schema: z.ZodType<Answer>,
  asked: Target | undefined,
): Answer {
  const body = parseJson(http);
  if (http.status !== 200) throw readRefusal(http, body);
  const parsed = schema.safeParse(body);
  if (!parsed.success) throw notOurProtocol(parsed.error);
  const answer = parsed.data;
  if (asked !== undefined && !isSameJournal(answer, asked)) {
    throw new AgentError({
      code: 'journal_replaced',
      message: `journal ${answer.journalId} of agent ${answer.agentId} answered for journal ${asked.journalId} of agent ${asked.agentId}`,
      answeredBy: targetOf(answer),
    });
  }
  return answer;
}

function readRefusal(http: { status: number; body: string }, body: unknown): AgentError | AgentUnreachable {
  const parsed = errorAnswerSchema.safeParse(body);
  // A proxy's own 502 or an answer of some other server: neither is the agent's word.
  if (!parsed.success)
    return new AgentUnreachable(`HTTP ${http.status}, not an answer of an agent: ${quote(http.body)}`);
  return new AgentError({ ...parsed.data.error, answeredBy: targetOf(parsed.data) });
}

function parseJson(http: { status: number; body: string }): unknown {
  try {
    return JSON.parse(http.body) as unknown;
  } catch {
    // Whatever isn't JSON isn't the agent; the text is quoted, the parser's position helps nobody.
    throw new AgentUnreachable(`HTTP ${http.status}, not an answer of an agent: ${quote(http.body)}`);
  }
}

function notOurProtocol(error: z.ZodError): AgentUnreachable {
  const issue = error.issues[0];
  const where = issue === undefined || issue.path.length === 0 ? '' : `${issue.path.join('.')}: `;
  const reason = toSafeText(`${where}${issue?.message ?? 'invalid'}`, QUOTED_CHARACTERS_MAX);
  return new AgentUnreachable(`the agent's answer does not fit this version of the protocol (${reason})`);
}

export function targetOf(answer: Target): Target {
  const { agentId, journalId, incarnation, sequence } = answer;
  return { agentId, journalId, incarnation, sequence };
}

function isSameJournal(one: Target, other: Target): boolean {
  return one.agentId === other.agentId && one.journalId === other.journalId;
}

function quote(text: string): string {
  return JSON.stringify(toSafeText(text, QUOTED_CHARACTERS_MAX));
}
