// Serves the receiver for Hono on Node.
import { serve } from '@hono/node-server'
import app from './hono.ts'

if (!process.env.BELFRY_SIGNING_SECRET) {
  throw new Error('Set BELFRY_SIGNING_SECRET to the signing secret of your workspace, whsec_...')
}

serve({ fetch: app.fetch, port: Number(process.env.PORT ?? 4000) })
