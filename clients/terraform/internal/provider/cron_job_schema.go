package provider

import (
	"context"
	"strings"

	"github.com/hashicorp/terraform-plugin-framework-validators/stringvalidator"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/booldefault"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/planmodifier"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/stringdefault"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/stringplanmodifier"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"
	"github.com/hashicorp/terraform-plugin-framework/types"
)

func cronJobSchema() schema.Schema {
	own := map[string]schema.Attribute{
		"name": schema.StringAttribute{
			MarkdownDescription: "The name of the cron job and its tasks.",
			Required:            true,
		},
		"method": choice("The method of the request.", "POST", "GET", "PUT", "PATCH", "DELETE"),
		"cron": schema.StringAttribute{
			MarkdownDescription: "Five fields: minute, hour, day of month, month, day of week.",
			Required:            true,
			PlanModifiers:       []planmodifier.String{sameCron},
		},
		"timezone": schema.StringAttribute{
			MarkdownDescription: "A time zone name of the IANA database. Default: `UTC`.",
			Optional:            true,
			Computed:            true,
			Default:             stringdefault.StaticString("UTC"),
		},
		"payload": schema.StringAttribute{
			MarkdownDescription: "The body of the request as JSON, which `jsonencode` writes. Its strings may have `{{ secrets.NAME }}`.",
			Optional:            true,
			Validators:          []validator.String{isPayload{}, stringvalidator.ConflictsWith(path.MatchRoot("payload_base64"))},
			PlanModifiers:       []planmodifier.String{sameJSON, replaceWithoutBody("payload_base64")},
		},
		"payload_base64": schema.StringAttribute{
			MarkdownDescription: "A body of any type in base64, instead of `payload`.",
			Optional:            true,
			PlanModifiers:       []planmodifier.String{replaceWithoutBody("payload")},
		},
		"content_type": schema.StringAttribute{
			MarkdownDescription: "The content type of `payload_base64`. Default: the `Content-Type` header, or `" + defaultContentType + "`.",
			Optional:            true,
			Validators:          []validator.String{stringvalidator.AlsoRequires(path.MatchRoot("payload_base64"))},
		},
		"overlap":   choice("Whether a run starts while the previous one is not finished.", "allow", "skip"),
		"catch_up":  choice("Which of the runs that were missed are made up for.", "latest", "all", "none"),
		"starts_at": timeAttribute("No run starts before this time, in RFC 3339."),
		"ends_at":   timeAttribute("No run starts at this time or later, in RFC 3339."),
		"paused": schema.BoolAttribute{
			MarkdownDescription: "Whether it is paused. Default: false.",
			Optional:            true,
			Computed:            true,
			Default:             booldefault.StaticBool(false),
		},
	}
	return schema.Schema{
		MarkdownDescription: "A request that is repeated on a schedule.",
		Attributes:          merge(deliveryAttributes(), own),
	}
}

// choice returns an attribute with a closed list of values, of which the first is the default.
func choice(description string, values ...string) schema.StringAttribute {
	others := "`" + strings.Join(values[1:], "`, `") + "`"
	return schema.StringAttribute{
		MarkdownDescription: description + " One of `" + values[0] + "` (the default), " + others + ".",
		Optional:            true,
		Computed:            true,
		Default:             stringdefault.StaticString(values[0]),
		Validators:          []validator.String{stringvalidator.OneOf(values...)},
	}
}

func timeAttribute(description string) schema.StringAttribute {
	return schema.StringAttribute{
		MarkdownDescription: description,
		Optional:            true,
		PlanModifiers:       []planmodifier.String{sameTime},
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
