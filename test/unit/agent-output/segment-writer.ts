/** Writes segments as the keeper's reader does, in this process and with any segment size. */
import { appendFile, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export class SegmentWriter {
  readonly folder: string;
  readonly #segmentBytes: number;
  #index = 0;
  #position = 0;

  private constructor(folder: string, segmentBytes: number) {
    this.folder = folder;
    this.#segmentBytes = segmentBytes;
  }

  static async create(segmentBytes: number): Promise<SegmentWriter> {
    return new SegmentWriter(await mkdtemp(join(tmpdir(), 'latchkey-output-')), segmentBytes);
  }

  async write(bytes: Uint8Array): Promise<void> {
    for (let offset = 0; offset < bytes.length;) {
      const part = bytes.subarray(offset, offset + this.#segmentBytes - this.#position);
      await appendFile(join(this.folder, `segment.${this.#index}`), part);
      offset += part.length;
      this.#position += part.length;
      if (this.#position === this.#segmentBytes) await this.#startNext();
    }
  }

  async end(mark: 'drained' | 'output-lost' = 'drained'): Promise<void> {
    await writeFile(join(this.folder, mark), '');
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await rm(this.folder, { recursive: true, force: true });
  }

  async #startNext(): Promise<void> {
    this.#index += 1;
    this.#position = 0;
    await writeFile(join(this.folder, `segment.${this.#index}`), '');
    if (this.#index - 2 > 0) await rm(join(this.folder, `segment.${this.#index - 2}`));
  }
}
