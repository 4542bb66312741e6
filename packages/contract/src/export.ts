import { z } from 'zod'

/** The parameter of an export that chooses its format. */
export const exportFormat = {
  format: z
    .enum(['csv', 'jsonl'])
    .default('csv')
    .meta({ description: 'CSV with a header line, or one JSON object per line.' }),
}

/** The media types of an export, by its format. */
export const exportMediaTypes = { csv: 'text/csv', jsonl: 'application/x-ndjson' }

export const exportTypes = Object.values(exportMediaTypes)
