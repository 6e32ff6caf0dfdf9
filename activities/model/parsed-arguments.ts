/** `argumentsJson` is what is stored and sent back to a model; with a fault the call never runs. */
export type ParsedArguments<Request> =
  | { readonly argumentsJson: string; readonly request: Request; readonly fault?: never }
  | { readonly argumentsJson: string; readonly request?: never; readonly fault: string };
