// An app of QStash's client, which runs against QStash or Belfry: only the environment decides. QSTASH_URL, QSTASH_TOKEN,
// QSTASH_CURRENT_SIGNING_KEY and QSTASH_NEXT_SIGNING_KEY, or QSTASH_DEV=true beside `npm start`.
import { Client, Receiver } from '@upstash/qstash'
import express from 'express'

const publicUrl = process.env.APP_URL ?? 'http://localhost:4000'
const client = new Client()
const receiver = new Receiver()
const app = express()

// Orders are confirmed in ten seconds, by a message to the app itself.
app.post('/orders/:id', async (request, response) => {
  const { messageId } = await client.publishJSON({
    url: `${publicUrl}/confirm`,
    body: { order: request.params.id },
    delay: '10s',
    retries: 3,
    failureCallback: `${publicUrl}/not-confirmed`,
  })
  response.status(202).json({ messageId })
})

// The signature covers the text of the body, so these routes must not use `express.json()`.
const text = express.text({ type: () => true, limit: '1mb' })

app.post(['/confirm', '/not-confirmed'], text, async (request, response) => {
  const signature = request.header('upstash-signature') ?? ''
  const body = typeof request.body === 'string' ? request.body : ''
  const isSigned = await receiver.verify({ signature, body, url: publicUrl + request.path }).catch(() => false)
  if (!isSigned) return void response.status(401).send('The signature is invalid.')
  console.log(request.path, body)
  response.sendStatus(204)
})

app.listen(Number(process.env.PORT ?? 4000))
