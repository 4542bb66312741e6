// A receiver for NestJS on Express.
import 'reflect-metadata'
import { WebhookVerificationError, webhooks } from '@belfry/client'
import { BadRequestException, Controller, Headers, HttpCode, Module, Post, RawBody } from '@nestjs/common'
import { NestFactory } from '@nestjs/core'
import type { NestExpressApplication } from '@nestjs/platform-express'

const secret = process.env.BELFRY_SIGNING_SECRET
if (!secret) throw new Error('Set BELFRY_SIGNING_SECRET to the signing secret of your workspace, whsec_...')

@Controller('hooks')
class HooksController {
  @Post('belfry')
  @HttpCode(204)
  async receive(@RawBody() body: Buffer | undefined, @Headers() headers: Record<string, string>): Promise<void> {
    try {
      const { id, payload } = await webhooks.verify(body ?? '', headers, secret)
      // All attempts of a task have the same id: ignore ids that you have processed.
      console.log(id, payload)
    } catch (error) {
      if (error instanceof WebhookVerificationError) throw new BadRequestException(error.message)
      throw error
    }
  }
}

@Module({ controllers: [HooksController] })
class AppModule {}

async function bootstrap(): Promise<void> {
  // The signature covers the raw bytes, which `rawBody` keeps. Belfry sends up to 256 KB, and any JSON value.
  const app = await NestFactory.create<NestExpressApplication>(AppModule, { rawBody: true })
  app.useBodyParser('json', { limit: '1mb', strict: false })
  app.useBodyParser('text', { limit: '1mb', type: 'text/*' })
  await app.listen(Number(process.env.PORT ?? 4000))
}

void bootstrap()
