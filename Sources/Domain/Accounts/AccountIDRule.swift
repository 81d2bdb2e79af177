import Base

/// What an account's id is to its appAccountToken: `STOREHOOK_ACCOUNT_IDS`, as the database has it.
///
/// An id is what the app's login calls a user. It is never read as the token of an id that is hashed: a user may be free to choose an id,
/// and could compute the token of another user. Apps may compute tokens themselves, so no rule ever changes.
package enum AccountIDRule: String, Sendable, CaseIterable {
    /// A UUID of any version but 5 is its own token; every other id is hashed to a version 5 UUID. No id has the token of another one.
    case auto
    /// Every id is a UUID and its own token; nothing else is an id. For logins that assign UUIDs, of version 5 too.
    case uuid
    /// Every id is hashed, byte by byte. For logins whose users choose their ids.
    case text

    /// The account of an id; nil for what is no id under this rule.
    ///
    /// Two texts are no ids under any rule:
    /// - The nil UUID. As an appAccountToken it names no account (``/Base/UniqueIdentifier/accountToken``), and its account would have the
    ///   purchases of all apps that set no token.
    /// - What reads as ``AccountReference/token(_:)``.
    ///
    /// A UUID is the same id in either letter case, except under ``text``.
    package func account(_ id: String) -> AccountIdentity? {
        guard AccountReference(id) == .id(id) else { return nil }
        switch (self, UniqueIdentifier(id)) {
        case (.uuid, nil): return nil
        case (.uuid, let uuid?): return AccountIdentity(id: uuid.description, token: uuid, rule: self)
        case (.auto, let uuid?) where uuid.version != 5:
            return AccountIdentity(id: uuid.description, token: uuid, rule: self)
        case (.auto, let uuid?): return hashed(uuid.description)
        case (.auto, nil), (.text, _): return hashed(id)
        }
    }

    private func hashed(_ id: String) -> AccountIdentity {
        AccountIdentity(id: id, token: AccountToken.hash(of: id), rule: self)
    }
}

extension UniqueIdentifier {
    /// The first digit of the third group, whatever the variant.
    fileprivate var version: UInt64 { high >> 12 & 0xF }
}
