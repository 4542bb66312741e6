const { Belfry, webhooks } = require('@belfry/client')

async function run({ targetUrl, ...options }) {
  if (typeof webhooks.verify !== 'function') throw new Error('webhooks.verify is missing.')
  const belfry = new Belfry(options)
  const task = await belfry.tasks.create({
    name: 'From CommonJS',
    targetUrl,
    executeAt: new Date(Date.now() + 5_000),
    method: 'post',
    payload: JSON.stringify({ from: 'commonjs' }),
  })
  for (;;) {
    const { data } = await belfry.runs.list({ taskId: task.id })
    if (data[0]) return data[0]
    await new Promise(resolve => setTimeout(resolve, 100))
  }
}

void run(JSON.parse(process.argv[2])).then(found => console.log(JSON.stringify(found)))
