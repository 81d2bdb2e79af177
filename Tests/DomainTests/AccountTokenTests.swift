import AppStorePayloads
import Base
import Testing

@testable import Accounts

@Suite("The appAccountToken of an account")
struct AccountTokenTests {
    /// RFC 9562, appendix A.4.
    @Test("is made as RFC 9562 makes its example of version 5")
    func example() throws {
        let dns = try #require(UniqueIdentifier("6ba7b810-9dad-11d1-80b4-00c04fd430c8"))
        let made = AccountToken.version5(of: "www.example.com", in: dns)
        #expect("\(made)" == "2ed6657d-e927-568b-95e1-2665a8aea6a2")
    }

    /// Apps compute these too: neither the namespace nor the rule may ever change. By Python's uuid.uuid5.
    @Test(
        "of an id that is hashed is a version 5 UUID of its bytes in a namespace that never changes",
        arguments: [
            ("user-42", "42ca334f-18cb-59e1-9616-a1dca64eb9b4"),
            ("auth0|5f7c8ec7c33c6c004bbafe82", "849ccd58-361c-5918-b95b-fad79092d324"),
            ("用户42", "0c759624-871f-5dd4-8415-55bc8f593dd9"),
        ])
    func names(id: String, token: String) {
        #expect("\(AccountToken.namespace)" == "45f55b13-241a-42e7-9499-38fb335afb69")
        #expect("\(AccountToken.hash(of: id))" == token)
        #expect(AccountIDRule.auto.account(id)?.token == AccountToken.hash(of: id))
        #expect(AccountIDRule.text.account(id)?.token == AccountToken.hash(of: id))
        #expect(AccountIDRule.uuid.account(id) == nil)
    }

    /// A UUID of version 4 in two spellings, and two of version 5: the version is the first digit of the third group, also where the variant
    /// is none of RFC 9562.
    private static let (four, upperFour) = (
        "6f9619ff-8b86-4011-b42d-00cf4fc964ff", "6F9619FF-8B86-4011-B42D-00CF4FC964FF"
    )
    private static let (five, upperFive) = (
        "42ca334f-18cb-59e1-9616-a1dca64eb9b4", "42CA334F-18CB-59E1-9616-A1DCA64EB9B4"
    )
    private static let strange = "00000000-0000-5000-0000-000000000001"

    @Test("of a UUID is itself or its hash, by its version, its letters and the rule")
    func uuids() throws {
        func own(_ id: String) throws -> UniqueIdentifier { try #require(UniqueIdentifier(id)) }
        let hash = AccountToken.hash
        let expected: [(String, auto: UniqueIdentifier, uuid: UniqueIdentifier, text: UniqueIdentifier)] = [
            (Self.four, try own(Self.four), try own(Self.four), hash(Self.four)),
            (Self.upperFour, try own(Self.four), try own(Self.four), hash(Self.upperFour)),
            (Self.five, hash(Self.five), try own(Self.five), hash(Self.five)),
            (Self.upperFive, hash(Self.five), try own(Self.five), hash(Self.upperFive)),
            (Self.strange, hash(Self.strange), try own(Self.strange), hash(Self.strange)),
        ]
        for (id, auto, uuid, text) in expected {
            #expect(AccountIDRule.auto.account(id)?.token == auto, "\(id)")
            #expect(AccountIDRule.uuid.account(id)?.token == uuid, "\(id)")
            #expect(AccountIDRule.text.account(id)?.token == text, "\(id)")
            #expect(AccountIDRule.auto.account(id)?.id == id.lowercased())
            #expect(AccountIDRule.uuid.account(id)?.id == id.lowercased())
            #expect(AccountIDRule.text.account(id)?.id == id)
        }
    }

    @Test("is nobody's id under auto and text, whatever id it is the token of")
    func takeover() throws {
        for rule in [AccountIDRule.auto, .text] {
            for victim in ["alice", Self.four, Self.five, Self.strange, "用户42"] {
                let token = try #require(rule.account(victim)).token
                for id in [token.description, token.description.uppercased()] where id.lowercased() != victim {
                    #expect(rule.account(id)?.token != token, "\(victim) under \(rule)")
                }
            }
        }
    }

    @Test("is not that of the nil UUID under any rule, nor is what names a token an id")
    func none() {
        for rule in AccountIDRule.allCases {
            #expect(rule.account("00000000-0000-0000-0000-000000000000") == nil)
            for uuid in [Self.four, Self.upperFive, "00000000-0000-0000-0000-000000000000"] {
                #expect(rule.account("token:\(uuid)") == nil)
            }
        }
        #expect(AccountIDRule.text.account("token:alice")?.id == "token:alice")
    }

    @Test("differs wherever the id does: case, spaces, braces around a UUID", arguments: [AccountIDRule.auto, .text])
    func distinct(rule: AccountIDRule) {
        let ids = [
            "user-42", "User-42", " user-42", "{7f1de78e-0d4e-4c5e-9d3c-1c5f5a8c7a10}",
            "7f1de78e0d4e4c5e9d3c1c5f5a8c7a10", "7f1de78e-0d4e-4c5e-9d3c-1c5f5a8c7a10", Self.five, "token:alice",
        ]
        #expect(Set(ids.compactMap { rule.account($0)?.token }).count == ids.count)
    }

    @Test("is what token: names, in commands; everything else but the nil UUID is an id")
    func references() throws {
        let token = try #require(UniqueIdentifier(Self.five))
        #expect(AccountReference("token:\(Self.five)") == .token(token))
        #expect(AccountReference("token:\(Self.upperFive)") == .token(token))
        #expect(AccountReference.token(token).description == "token:\(Self.five)")
        for id in [Self.five, "alice", "token:", "token:alice", "Token:\(Self.five)", " token:\(Self.five)"] {
            #expect(AccountReference(id) == .id(id))
        }
        for none in ["00000000-0000-0000-0000-000000000000", "token:00000000-0000-0000-0000-000000000000"] {
            #expect(AccountReference(none) == nil)
        }
        for rule in AccountIDRule.allCases {
            let account = AccountReference.token(token).account(by: rule)
            #expect(account == AccountIdentity(token: token) && account?.name == "token:\(Self.five)")
        }
    }
}
