import { z } from 'zod'

export const exportFormat = {
  format: z
    .enum(['csv', 'jsonl'])
    .default('csv')
    .meta({ description: 'CSV with a header line, or one JSON object per line.' }),
}

export const exportMediaTypes = { csv: 'text/csv', jsonl: 'application/x-ndjson' }

export const exportTypes = Object.values(exportMediaTypes)
