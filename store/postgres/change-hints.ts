/** On PostgreSQL a trigger notifies with each commit that appended events (migrations.ts); one connection listens. */
import { Client } from 'pg';
import type { ChatId } from '../../contract/ids.ts';
import type { HintSource } from '../chat-changes.ts';

export const CHANGES_CHANNEL = 'latchkey_chat_events';

/** While the server is away; what is missed until then is found by the look (chat-changes.ts). */
const RECONNECT_MS = 2_000;

export function postgresChangeHints(url: string): HintSource {
  return (onHint) => {
    let client: Client | undefined;
    let timer: NodeJS.Timeout | undefined;
    let hasEnded = false;
    const connect = (): void => {
      const mine = new Client({ connectionString: url, keepAlive: true, application_name: 'latchkey-hints' });
      client = mine;
      let isOver = false;
      const lose = (): void => {
        if (isOver) return;
        isOver = true;
        void mine.end().catch(() => undefined);
        if (!hasEnded) timer = setTimeout(connect, RECONNECT_MS);
      };
      mine.on('error', lose);
      mine.on('end', lose);
      mine.on('notification', ({ payload }) => onHint(payload as ChatId | undefined));
      mine.connect().then(
        () => mine.query(`listen ${CHANGES_CHANNEL}`).then(() => onHint(), lose),
        () => lose(),
      );
    };
    connect();
    return {
      [Symbol.dispose]: () => {
        hasEnded = true;
        clearTimeout(timer);
        void client?.end().catch(() => undefined);
      },
    };
  };
}
