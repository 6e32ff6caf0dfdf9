/** The journal's tables. A change of meaning raises the version; an unknown version is refused, never guessed at. */
export const JOURNAL_VERSION = 1;

export const JOURNAL_SCHEMA = `
CREATE TABLE meta (name TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT;

-- What the agent has seen of a chat; never dropped. Keys of messages up to the cutoff that are absent are expired.
CREATE TABLE chats (
  chat_id TEXT PRIMARY KEY,
  highest_message_id INTEGER NOT NULL,
  cutoff INTEGER NOT NULL DEFAULT 0
) STRICT;

-- One row per (chat, key): every key ever dispatched to this agent. The id makes the handle.
CREATE TABLE calls (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  chat_id TEXT NOT NULL,
  key TEXT NOT NULL,
  message_id INTEGER NOT NULL,
  nonce TEXT NOT NULL,
  fingerprint TEXT,
  state TEXT NOT NULL CHECK (state IN ('open', 'exited', 'spawn_failed', 'lost', 'void', 'fenced')),
  fence_requested INTEGER NOT NULL DEFAULT 0,
  background INTEGER NOT NULL DEFAULT 0,
  command_line TEXT NOT NULL DEFAULT '',
  attempt INTEGER NOT NULL DEFAULT 0,
  kill_intent TEXT,
  killed_by TEXT,
  exit_code INTEGER,
  duration_ms REAL,
  reason TEXT,
  ended_at TEXT,
  -- Set when the output has been dropped: the row is a receipt from then on.
  expired_total INTEGER,
  UNIQUE (chat_id, key)
) STRICT;
CREATE INDEX calls_by_state ON calls (state) WHERE state = 'open';

-- Launches beneath a call; more than one only after a void one (K1).
CREATE TABLE attempts (
  call_id INTEGER NOT NULL REFERENCES calls (id),
  attempt INTEGER NOT NULL,
  boot_id TEXT NOT NULL,
  pid_namespace TEXT NOT NULL,
  reserved_boot_ms REAL NOT NULL,
  reserved_at TEXT NOT NULL,
  kill_after_ms INTEGER,
  settled TEXT,
  -- Both until the cgroup is removed; valid in the boot of the row.
  cgroup_path TEXT,
  cgroup_inode TEXT,
  PRIMARY KEY (call_id, attempt)
) STRICT, WITHOUT ROWID;
CREATE INDEX attempts_with_cgroup ON attempts (cgroup_path) WHERE cgroup_path IS NOT NULL;

-- Signals by handle, once per id (I07). The outcome is empty while it is being sent.
CREATE TABLE signals (
  call_id INTEGER NOT NULL REFERENCES calls (id),
  id TEXT NOT NULL,
  signal TEXT NOT NULL,
  outcome TEXT,
  PRIMARY KEY (call_id, id)
) STRICT, WITHOUT ROWID;
`;
