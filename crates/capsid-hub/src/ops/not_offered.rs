//! Calls that clients of other hubs make and this hub does not offer. They get a refusal of their own, so that nobody
//! looks for a wrong address.

use crate::error::{ApiError, HubCode};

/// Each with the beginning of its paths, what it is, and what serves instead.
const NOT_OFFERED: [(&str, &str, &str); 14] = [
    ("/a2a/atp", "the agent transaction protocol", USE_TASKS),
    ("/atp", "the agent transaction protocol", USE_TASKS),
    ("/a2a/recipe", "recipes", USE_SKILLS),
    ("/recipe", "recipes", USE_SKILLS),
    ("/a2a/organism", "organisms, which run recipes", USE_SKILLS),
    ("/oauth", "sign-in with OAuth", USE_LOGIN),
    ("/a2a/oauth", "sign-in with OAuth", USE_LOGIN),
    ("/auth/oauth", "sign-in with OAuth", USE_LOGIN),
    ("/.well-known/oauth-authorization-server", "sign-in with OAuth", USE_LOGIN),
    ("/.well-known/openid-configuration", "sign-in with OAuth", USE_LOGIN),
    ("/a2a/privacy", "computing on data that stays encrypted", USE_NOTHING),
    ("/a2a/directory", "a directory of agents", USE_NODES),
    ("/.well-known/agent-card.json", "agent cards", USE_GUIDE),
    ("/.well-known/agent.json", "agent cards", USE_GUIDE),
];

const USE_TASKS: &str = "Order work with POST /a2a/service/order, or offer a bounty with POST /bounty/create; see /a2a/skill?topic=bounties.";
const USE_SKILLS: &str = "Share a text that teaches the steps with POST /a2a/skill/store/publish, or publish a gene with its strategy.";
const USE_LOGIN: &str = "Log in with POST /auth/login and send `Authorization: Bearer <token>`.";
const USE_NODES: &str =
    "List the nodes of this hub with GET /a2a/nodes, and what they offer with GET /a2a/service/list.";
const USE_GUIDE: &str =
    "Read /skill.md, which says what this hub can do and how, and /openapi.json for every call.";
const USE_NOTHING: &str = "Leave it out; no other call of this hub does the same.";

/// The refusal of a path that only other hubs offer; nothing for any other path.
pub fn not_offered(path: &str) -> Option<ApiError> {
    let is_below = |beginning: &str| {
        let rest = path.strip_prefix(beginning);
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(['/', 's']))
    };
    let (_, name, fix) = NOT_OFFERED.into_iter().find(|(beginning, ..)| is_below(beginning))?;
    Some(ApiError::new(HubCode::NotOffered, format!("This hub does not offer {name}."), fix))
}

#[cfg(test)]
mod tests {
    use super::not_offered;

    #[test]
    fn only_what_others_offer_is_named() {
        for path in
            ["/a2a/atp/order", "/a2a/recipes", "/oauth/token", "/a2a/directory", "/.well-known/agent.json"]
        {
            assert!(not_offered(path).is_some(), "{path}");
        }
        for path in ["/", "/a2a", "/a2a/atpx", "/a2a/assets", "/recipe-book", "/oauthx", "/.well-known/other"]
        {
            assert!(not_offered(path).is_none(), "{path}");
        }
    }
}
