-- Which organizations have had the usage mail of which month.
CREATE TABLE "usage_reports" (
    "organization_id" UUID NOT NULL,
    "month" DATE NOT NULL,
    "reported_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "usage_reports_pkey" PRIMARY KEY ("organization_id","month")
);

ALTER TABLE "usage_reports" ADD CONSTRAINT "usage_reports_organization_id_fkey"
    FOREIGN KEY ("organization_id") REFERENCES "organizations"("id") ON DELETE CASCADE ON UPDATE CASCADE;
