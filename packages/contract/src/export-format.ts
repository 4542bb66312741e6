import { z } from 'zod'

/** The parameter of an export that chooses its format. */
export const exportFormat = {
  format: z
    .enum(['csv', 'jsonl'])
    .default('csv')
    .meta({ description: 'CSV with a header line, or one JSON object per line.' }),
}
