/** A verb's own part of its answer: the server adds whose word it is, as of the moment of sending. */
type EnvelopeField = 'protocol' | 'agentId' | 'journalId' | 'incarnation' | 'sequence';

export type AnswerBody<Answer> = Answer extends unknown ? Omit<Answer, EnvelopeField> : never;
