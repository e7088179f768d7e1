//! The sender that a body names, for calls without an envelope.

use crate::auth::credentials::Credentials;
use crate::auth::sender::Sender;
use crate::error::ApiResult;
use crate::http::{traced_id, validate};

/// Who sends, as a body says it: some clients write `sender_id`, others `node_id`, and some cannot set headers.
#[derive(Debug, Clone, Copy, Default)]
pub struct SenderFields<'a> {
    pub sender_id: Option<&'a str>,
    pub node_id: Option<&'a str>,
    pub node_secret: Option<&'a str>,
}

impl<'a> SenderFields<'a> {
    /// The node that sends; it has to be named.
    pub fn node_id(&self) -> ApiResult<String> {
        validate::node(self.sender_id, self.node_id)
    }

    /// The credentials of the request, with the secret of the body where the header shows none.
    pub fn credentials(&self, shown: Credentials) -> Credentials {
        shown.or_secret(self.node_secret)
    }

    /// The node that sends, with the credentials of the request.
    pub fn to_sender(self, shown: Credentials) -> ApiResult<Sender> {
        Ok(Sender::new(self.node_id()?, self.credentials(shown)))
    }

    /// The named node for the log, before it is checked.
    pub fn traced(&self) -> Option<&'a str> {
        self.sender_id.or(self.node_id).map(traced_id)
    }
}

/// Gives requests their `sender()`. The three fields stay in each request: were they flattened, a wrong one would no
/// longer be refused by its name.
macro_rules! sender_fields {
    ($($request:ty),+ $(,)?) => {$(
        impl $request {
            /// Who sends.
            pub fn sender(&self) -> $crate::auth::sender_fields::SenderFields<'_> {
                $crate::auth::sender_fields::SenderFields {
                    sender_id: self.sender_id.as_deref(),
                    node_id: self.node_id.as_deref(),
                    node_secret: self.node_secret.as_deref(),
                }
            }
        }
    )+};
}

pub(crate) use sender_fields;
