import { InvalidArgumentError } from 'commander';

const PORT_MAX = 65_535;

export function parsePort(text: string): number {
  const port = Number(text);
  if (!Number.isInteger(port) || port < 1 || port > PORT_MAX) {
    throw new InvalidArgumentError(`a port is a whole number from 1 to ${PORT_MAX}`);
  }
  return port;
}
