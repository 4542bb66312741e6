-- The tier of organizations where tiers are not sold. Few rows, so the check of the existing ones is short.
ALTER TABLE "organizations" DROP CONSTRAINT "organizations_tier";
ALTER TABLE "organizations" ADD CONSTRAINT "organizations_tier"
    CHECK ("tier" IN ('free', 'startup', 'scaleup', 'unicorn', 'unlimited')) NOT VALID;
ALTER TABLE "organizations" VALIDATE CONSTRAINT "organizations_tier";
