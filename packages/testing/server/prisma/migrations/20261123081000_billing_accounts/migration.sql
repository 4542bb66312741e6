-- What a payment provider last said of an organization.
CREATE TABLE "billing_accounts" (
    "organization_id" UUID NOT NULL,
    "customer_id" TEXT,
    "checkout_id" TEXT,
    "subscription_id" TEXT,
    "status" TEXT,
    "tier" TEXT,
    "period_end" TIMESTAMPTZ(3),
    "next_tier" TEXT,
    "next_tier_at" TIMESTAMPTZ(3),
    "grace_until" TIMESTAMPTZ(3),
    "updated_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "billing_accounts_pkey" PRIMARY KEY ("organization_id")
);

CREATE UNIQUE INDEX "billing_accounts_customer_id_key" ON "billing_accounts"("customer_id");

CREATE INDEX "billing_accounts_grace_until_idx" ON "billing_accounts"("grace_until");

ALTER TABLE "billing_accounts" ADD CONSTRAINT "billing_accounts_organization_id_fkey"
    FOREIGN KEY ("organization_id") REFERENCES "organizations"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- The provider's events that have been handled.
CREATE TABLE "billing_events" (
    "id" TEXT NOT NULL,
    "received_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "billing_events_pkey" PRIMARY KEY ("id")
);

CREATE INDEX "billing_events_received_at_idx" ON "billing_events"("received_at");
