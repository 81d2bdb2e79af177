import Crypto
import Foundation
import Postgres
import Simulation
import TestSupport
import Testing

@Suite("storehook refresh --account")
struct AccountRefreshCommandTests {
    private static let pem = P256.Signing.PrivateKey().pemRepresentation
    private static let token = "7f1de78e-0d4e-4c5e-9d3c-000000000001"

    private func settings(_ server: ScriptedServer) -> [String: String] {
        [
            "STOREHOOK_APPLE_URL": "http://127.0.0.1:\(server.port)", "APPLE_ISSUER_ID": "issuer",
            "APPLE_KEY_ID": "KEYID12345", "APPLE_PRIVATE_KEY": Data(Self.pem.utf8).base64EncodedString(),
            "STOREHOOK_ENVIRONMENTS": "Sandbox",
        ]
    }

    private func buy(_ id: String, in environment: String = "Sandbox", _ site: Site) async throws {
        try await site.pool.query(
            """
            insert into storehook.one_time_purchases
                   (environment, bundle_id, original_transaction_id, kind, app_account_token, transaction_id, purchased_at,
                    quantity, revoked_share)
            values (\(environment), \(Site.app.bundleId), \(id), 'non_consumable', \(UUID(uuidString: Self.token)), \(id),
                    now(), 1, 0)
            """)
    }

    @Test(
        "stores what Apple says of the account's purchases, as a table and as JSON, and takes the id in either letter case"
    )
    func stored() async throws {
        try await withSite { site in
            let signed = site.authority.sign(
                """
                {"transactionId":"1","originalTransactionId":"1","bundleId":"\(Site.app.bundleId)",\
                "environment":"Sandbox","productId":"com.example.pro","type":"Non-Consumable",\
                "appAccountToken":"\(Self.token)","purchaseDate":1769800000000,"signedDate":1769900000000}
                """)
            let server = try ScriptedServer { request in
                if request.line.contains("/inApps/v1/subscriptions/") { return .json(200, #"{"data":[]}"#) }
                let list = request.line.contains("/inApps/v2/history/1") ? "\"\(signed)\"" : ""
                return .json(200, "{\"signedTransactions\":[\(list)],\"hasMore\":false}")
            }
            defer { server.stop() }
            try await buy("1", site)
            let run = try await site.run(
                "refresh", "--account", Self.token.uppercased(), "--format", "json", with: settings(server))
            #expect(run.ending == .exited(0), "\(run.errors)")
            let told = try #require(try run.json() as? [String: Any])
            #expect(told["app_account_token"] as? String == Self.token && told["purchases"] as? Int == 1)
            let refreshes = told["refreshes"] as? [[String: Any]]
            #expect(refreshes?.map { $0["stored"] as? Int } == [1])
            #expect(refreshes?.first?["environment"] as? String == "Sandbox")
            let table = try await site.run(
                "refresh", "--account", Self.token, "--format", "table", with: settings(server))
            #expect(table.output.contains("1 purchase of the account") && table.output.contains("ANSWERED"))
        }
    }

    @Test("leaves with 1 where no purchase is the account's or nobody can be asked, and with 2 where there is no key")
    func nothing() async throws {
        try await withSite { site in
            let server = try ScriptedServer { _ in .json(404, #"{"errorCode":4040010,"errorMessage":"…"}"#) }
            defer { server.stop() }
            let none = try await site.run(
                "refresh", "--account", "nobody", "--format", "table", with: settings(server))
            #expect(none.ending == .exited(1) && none.output.contains("no purchase"), "\(none.errors)")
            #expect(server.requests.isEmpty)
            try await buy("1", in: "Production", site)
            let unasked = try await site.run(
                "refresh", "--account", Self.token, "--format", "json", with: settings(server))
            #expect(unasked.ending == .exited(1))
            #expect((try unasked.json() as? [String: Any])?["unasked"] as? [String] == ["1"])
            #expect(try await site.run("refresh", "--account", Self.token).ending == .exited(2))
            #expect(try await site.run("refresh", "1", "--account", Self.token).ending == .exited(2))
            #expect(try await site.run("refresh", "--account", "").ending == .exited(2))
        }
    }
}
