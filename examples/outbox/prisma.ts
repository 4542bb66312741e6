// An order and its reminder, in one transaction of Prisma.

/** What this needs of your PrismaClient. */
type Client = {
  $transaction<T>(run: (tx: Pick<Client, '$executeRaw'>) => Promise<T>): Promise<T>
  $executeRaw(text: TemplateStringsArray, ...values: unknown[]): PromiseLike<number>
}

export async function placeOrder(prisma: Client, order: number): Promise<void> {
  await prisma.$transaction(async tx => {
    await tx.$executeRaw`INSERT INTO orders (id) VALUES (${order})` // or tx.order.create(...)
    await tx.$executeRaw`
      SELECT belfry.call_at('https://example.com/hooks/remind', now() + interval '3 days',
                            ${JSON.stringify({ order })}::jsonb, ${JSON.stringify({ key: `remind:${order}` })}::jsonb)`
  })
}
