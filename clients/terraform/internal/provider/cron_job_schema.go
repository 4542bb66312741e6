package provider

import (
	"context"
	"strings"

	"github.com/hashicorp/terraform-plugin-framework-validators/stringvalidator"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/booldefault"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/planmodifier"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/stringplanmodifier"
	"github.com/hashicorp/terraform-plugin-framework/types"
)

func cronJobSchema() schema.Schema {
	attributes := cronJobFields.attributes()
	attributes["id"] = idAttribute()
	attributes["paused"] = schema.BoolAttribute{
		MarkdownDescription: "Whether it is paused. Default: false.",
		Optional:            true,
		Computed:            true,
		Default:             booldefault.StaticBool(false),
	}
	payload := attributes["payload"].(schema.StringAttribute)
	payload.Validators = append(payload.Validators, stringvalidator.ConflictsWith(path.MatchRoot("payload_base64")))
	payload.PlanModifiers = append(payload.PlanModifiers, replaceWithoutBody("payload_base64"))
	attributes["payload"] = payload
	bytes := attributes["payload_base64"].(schema.StringAttribute)
	bytes.PlanModifiers = append(bytes.PlanModifiers, replaceWithoutBody("payload"))
	attributes["payload_base64"] = bytes
	contentType := attributes["content_type"].(schema.StringAttribute)
	contentType.Validators = append(contentType.Validators, stringvalidator.AlsoRequires(path.MatchRoot("payload_base64")))
	attributes["content_type"] = contentType
	return schema.Schema{
		MarkdownDescription: "A request that is repeated on a schedule.",
		Attributes:          attributes,
	}
}

// replaceWithoutBody plans a new cron job when the configuration has neither this body nor the other one: the API cannot
// remove a body.
func replaceWithoutBody(other string) planmodifier.String {
	description := "Removing the body creates the cron job again."
	return stringplanmodifier.RequiresReplaceIf(
		func(ctx context.Context, req planmodifier.StringRequest, resp *stringplanmodifier.RequiresReplaceIfFuncResponse) {
			var otherBody types.String
			resp.Diagnostics.Append(req.Plan.GetAttribute(ctx, path.Root(other), &otherBody)...)
			resp.RequiresReplace = req.PlanValue.IsNull() && otherBody.IsNull()
		}, description, description,
	)
}

func isContentType(header string) bool {
	return strings.EqualFold(header, "Content-Type")
}
