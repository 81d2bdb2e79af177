import AppStorePayloads
import Base
import Testing

@testable import Accounts

@Suite("The appAccountToken of an account")
struct AccountTokenTests {
    @Test("of a UUID is that UUID, whatever the letter case")
    func uuid() {
        let token = AccountToken.of("7F1DE78E-0D4E-4C5E-9D3C-1C5F5A8C7A10")
        #expect("\(token)" == "7f1de78e-0d4e-4c5e-9d3c-1c5f5a8c7a10")
        #expect(AccountToken.of("7f1de78e-0d4e-4c5e-9d3c-1c5f5a8c7a10") == token)
    }

    /// RFC 9562, appendix A.4.
    @Test("is made as RFC 9562 makes its example of version 5")
    func example() throws {
        let dns = try #require(UniqueIdentifier("6ba7b810-9dad-11d1-80b4-00c04fd430c8"))
        let made = AccountToken.version5(of: "www.example.com", in: dns)
        #expect("\(made)" == "2ed6657d-e927-568b-95e1-2665a8aea6a2")
    }

    /// Apps compute these too: neither the namespace nor the rule may ever change. By Python's uuid.uuid5.
    @Test(
        "of any other text is a version 5 UUID of its bytes in a namespace that never changes",
        arguments: [
            ("user-42", "42ca334f-18cb-59e1-9616-a1dca64eb9b4"),
            ("auth0|5f7c8ec7c33c6c004bbafe82", "849ccd58-361c-5918-b95b-fad79092d324"),
            ("用户42", "0c759624-871f-5dd4-8415-55bc8f593dd9"),
        ])
    func names(account: String, token: String) {
        #expect("\(AccountToken.namespace)" == "45f55b13-241a-42e7-9499-38fb335afb69")
        #expect("\(AccountToken.of(account))" == token)
    }

    @Test("differs wherever the text does: case, spaces, braces around a UUID")
    func distinct() {
        let accounts = [
            "user-42", "User-42", " user-42", "{7f1de78e-0d4e-4c5e-9d3c-1c5f5a8c7a10}",
            "7f1de78e0d4e4c5e9d3c1c5f5a8c7a10", "7f1de78e-0d4e-4c5e-9d3c-1c5f5a8c7a10",
        ]
        #expect(Set(accounts.map(AccountToken.of)).count == accounts.count)
    }
}
