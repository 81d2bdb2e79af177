import AppStorePayloads
import AuditStore
import Foundation
import Operations
import Postgres
import Staff
import TestSupport
import Testing

/// The state of the service, for the desk.
struct HealthTests {
    private func read(_ desk: RunningDesk, _ token: String) async throws -> ReadHealth {
        let answer = try await desk.get("/admin/health", token)
        #expect(answer.status == 200, "\(answer.body)")
        return try JSONDecoder().decode(ReadHealth.self, from: Data(answer.body.utf8))
    }

    @Test(
        "Every role of all apps reads what the doctor's checks find; names are shortened, staff of some apps are refused"
    )
    func findings() async throws {
        try await withDesk { desk in
            let id = "1e0c2b2e-0000-5000-8000-000000000001"
            try await desk.observer.query(
                "insert into storehook.accounts (token, account) values (\(id)::uuid, \(id))")
            for role in StaffRole.allCases {
                let health = try await read(desk, try await desk.member(role).token)
                #expect(health.findings.map(\.check) == DatabaseChecks.names, "\(role)")
                let statuses = Dictionary(uniqueKeysWithValues: health.findings.map { ($0.check, $0.status) })
                #expect(statuses["database"] == "ok" && statuses["schema"] == "ok" && statuses["dead letters"] == "ok")
                #expect(statuses["account ids"] == "failed" && !health.ok)
                let named = try #require(health.findings.first { $0.check == "account ids" }?.message)
                #expect(named.hasPrefix("1e…") && !named.contains(id), "\(named)")
                #expect(health.findings.allSatisfy { !$0.message.isEmpty })
            }
            for apps in [[Desk.app], [Desk.app, Desk.other]] {
                let (_, some) = try await desk.member(.admin, of: apps)
                let refused = try await desk.get("/admin/health", some)
                #expect(refused.status == 403 && refused.code == "forbidden", "\(refused.body)")
            }
            #expect(try await desk.get("/admin/health").status == 401)
        }
    }

    @Test("Checks are made once a minute at most, however many ask")
    func once() async throws {
        try await withDesk { desk in
            let (_, token) = try await desk.member(.viewer)
            let times = try await withThrowingTaskGroup(of: String.self) { group in
                for _ in 0..<10 { group.addTask { try await read(desk, token).checkedAt } }
                return try await group.reduce(into: Set<String>()) { $0.insert($1) }
            }
            let later = try await read(desk, token).checkedAt
            #expect(times == [later])
        }
    }
}

/// What a client reads of it.
private struct ReadHealth: Decodable {
    struct Finding: Decodable {
        var check: String
        var status: String
        var message: String
    }
    var ok: Bool
    var checkedAt: String
    var findings: [Finding]
}
