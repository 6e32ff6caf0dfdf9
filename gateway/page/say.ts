/** Figures as people read them. */

const UNITS = ['bytes', 'KB', 'MB', 'GB'];

export function sayBytes(bytes: number): string {
  const power = bytes < 1000 ? 0 : Math.min(UNITS.length - 1, Math.floor(Math.log10(bytes) / 3));
  const value = bytes / 1000 ** power;
  return `${power === 0 ? value : value.toFixed(1)} ${UNITS[power]}`;
}

export function sayDuration(ms: number): string {
  const seconds = Math.max(0, Math.round(ms / 1000));
  if (seconds < 60) return `${seconds} s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return `${minutes} min ${seconds % 60} s`;
  const hours = Math.floor(minutes / 60);
  return hours < 48 ? `${hours} h ${minutes % 60} min` : `${Math.floor(hours / 24)} days`;
}

export function saySince(at: string, nowMs: number): string {
  const ms = nowMs - Date.parse(at);
  return ms < 60_000 ? 'just now' : `${sayDuration(ms).split(' ').slice(0, 2).join(' ')} ago`;
}
