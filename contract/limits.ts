/** Every limit that crosses a border between two pieces, in one place, with its unit last. */

const KIB = 1024;
const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;

/** Ours: a tool-call id that is longer is filled like an empty one (A02). */
export const TOOL_CALL_ID_BYTES_MAX = 512;
/** Long enough for a key: `latchkey exec` takes the key where no nonce is given. */
export const NONCE_CHARACTERS_MAX = 1024;
/** Temporal refuses 1001 characters and wedges the workflow; people read far fewer. */
export const ACTIVITY_ID_CHARACTERS_MAX = 200;
/** Temporal's default limit for a summary is about 400 bytes. */
export const SUMMARY_CHARACTERS_MAX = 200;
/** What a turn, or a chat, is called in a list of workflows: the beginning of the message, or its id. */
export const TURN_SUMMARY_CHARACTERS_MAX = 100;
/** A failure's message, type and stack; longer texts help nobody and grow history. */
export const FAILURE_CHARACTERS_MAX = 2000;
/** A user's message; checked before it is sent: an update of 2 MB wedges a workflow for ever. */
export const USER_MESSAGE_BYTES_MAX = 256 * KIB;
/** Messages of a chat that wait for their turn; more are refused. */
export const QUEUED_MESSAGES_MAX = 20;

/** The name of a model, with the path of a script that stands for one. */
export const MODEL_CHARACTERS_MAX = 1024;
/** A chat's title: the beginning of its first message. */
export const TITLE_CHARACTERS_MAX = 80;

/** The command's text. More than one argument may hold, so long ones go through a file. */
export const COMMAND_BYTES_MAX = 256 * KIB;
/** Linux: MAX_ARG_STRLEN is 128 KiB with the closing NUL. */
export const ARGUMENT_BYTES_MAX = 128 * KIB - 1;
/** The call's own environment, names and values together. */
export const ENVIRONMENT_BYTES_MAX = 64 * KIB;
export const ENVIRONMENT_ENTRIES_MAX = 256;
/** Linux: PATH_MAX with the closing NUL. */
export const WORKDIR_BYTES_MAX = 4095;
/** A request to the agent. JSON escapes may take six bytes for one, so it is larger than a command may be. */
export const AGENT_BODY_BYTES_MAX = 2048 * KIB;
/** Commands of one chat that run at once at one agent; more are told to wait. */
export const OPEN_CALLS_PER_CHAT_MAX = 64;
/** Free space of the agent's disk below which no command is started: its journal and outputs must still fit. */
export const FREE_DISK_BYTES_MIN = 64 * 1024 * KIB;
/** Bytes of output in one answer of the agent. */
export const OUTPUT_ANSWER_BYTES_MAX = 1024 * KIB;
/** The agent holds a request that waits at most so long. */
export const AGENT_WAIT_MS_MAX = 60 * SECOND;

/** What the model reads of an output: so much from the beginning and so much from the end. */
export const PRESENTED_HEAD_BYTES = 16 * KIB;
export const PRESENTED_TAIL_BYTES = 16 * KIB;
export const PRESENTED_LINE_BYTES_MAX = 2 * KIB;
/** The last line of output in heartbeat details and lists. */
export const LAST_LINE_CHARACTERS_MAX = 200;

export const TIMEOUT_SECONDS_DEFAULT = 120;
export const TIMEOUT_SECONDS_MAX = 4 * 60 * 60;

/** `process_output` waits so long at most: it holds one of the control slots that interrupts need too (I04). */
export const PROCESS_WAIT_SECONDS_MAX = 5;
/** Processes in one answer of `process_list`. */
export const PROCESS_LIST_ENTRIES_MAX = 50;

/**
 * What a workflow waits for after the death of its worker within a task: the server's default, said here because it must
 * not be lower. A live worker that waits for a local activity while its task times out goes on in the next task with
 * what it did in the lost one, and the history of that doesn't replay (decision 0019).
 */
export const WORKFLOW_TASK_TIMEOUT_MS = 10 * SECOND;
/** Staleness window of an execute attempt: how soon a dead worker is noticed. */
export const HEARTBEAT_TIMEOUT_MS_DEFAULT = 10 * SECOND;
/**
 * A worker that lives asks anew at least once a minute (the server ends a poll after that). A dead one stays in the
 * server's list for minutes, so only this silence tells them apart.
 */
export const POLLER_SILENCE_MS_DEFAULT = 70 * SECOND;
/** How long an unreachable agent is waited for before a call becomes `unknown`. */
export const TRUST_WINDOW_MS_DEFAULT = 30 * MINUTE;
/** `scheduleToClose` of execute is this much past the budget: a far backstop, never the deciding clock. */
export const EXECUTE_BACKSTOP_MS = 24 * HOUR;
/** `describeAgent` tries so long before the turn goes on without a target. */
export const DESCRIBE_AGENT_MS_MAX = 10 * SECOND;
/** A person's question for output: an agent that is there answers in milliseconds. */
export const READ_OUTPUT_MS_MAX = 10 * SECOND;
/** generateStep commits a target with the calls only if it was taken less than this ago. */
export const TARGET_FRESH_MS = 2 * SECOND;
/** Calls of a step that are dispatched side by side. */
export const CALLS_SIDE_BY_SIDE_MAX = 8;
/** How long an interrupt waits for the true end of a call before the turn moves on. */
export const INTERRUPT_GRACE_MS = 10 * SECOND;
/** How long a settle goes on asking for the truth of a call. */
export const SETTLE_MS_MAX = 24 * HOUR;
/** How long the notice of a turn's end is tried. */
export const NOTICE_MS_MAX = 24 * HOUR;
/** A sweep looks for what nobody works on any more this often. */
export const SWEEP_SECONDS_DEFAULT = 60;
/** An operator's name, or reason. */
export const OPERATOR_TEXT_CHARACTERS_MAX = 500;
/** What a note tells the model of a late truth; the rest is at the agent. */
export const NOTE_CHARACTERS_MAX = 8000;
/** TERM to KILL, when the caller doesn't say. */
export const KILL_GRACE_MS_DEFAULT = 2 * SECOND;
/** Chats in one page of a listing. */
export const CHAT_PAGE_CHATS_COUNT_MAX = 200;
/** Messages in one page of a chat. */
export const MESSAGE_PAGE_MESSAGES_MAX = 500;
/** A text that chats are searched for. */
export const SEARCH_CHARACTERS_MAX = 200;
