import AccountStore
import Accounts
import AppStorePayloads
import Base
import FigureStore
import Figures
import OrderSupport
import Pipeline
import Postgres
import PurchaseStore
import TestSupport
import Testing

/// Accounts of a small shop and their first payments, worked by hand.
@Suite("The figure free to paid")
struct FreeToPaidTests {
    private static func noon(_ day: String) -> Timestamp {
        Timestamp(iso8601: "\(day)T12:00:00Z") ?? .distantPast
    }

    private static func paid(
        _ line: String, as id: String? = nil, _ from: String, of account: String?, price: Int64 = 9_990,
        environment: String = "Production", _ change: (inout TransactionPayload) -> Void = { _ in }
    ) -> LedgerEntry {
        Shop.entry(line, id, at: noon(from), price: price, environment: environment) { payload in
            payload.appAccountToken = account.map { OrderDatabase.token($0) }
            change(&payload)
        }
    }

    private static func know(
        _ database: FigureDatabase, _ account: String, since day: String, isErased: Bool = false
    ) async throws {
        let token = OrderDatabase.token(account).description
        try await database.site.pool.query(
            """
            insert into storehook.accounts (token, known_at, erased_at)
            values (\(token)::text::uuid, \(day)::text::timestamp at time zone 'UTC' + interval '12 hours', case when \(isErased) then now() end)
            """)
    }

    /// In January two accounts become known; in February two more, one of them after its first payment. Three pay.
    private static func fill(_ database: FigureDatabase) async throws {
        for (account, day) in [
            ("ann", "2023-01-10"), ("bob", "2023-01-20"), ("cy", "2023-02-15"), ("dee", "2023-03-10"),
        ] { try await know(database, account, since: day) }
        try await know(database, "eve", since: "2023-02-01", isErased: true)
        try await database.hear(
            paid("0", "2023-01-15", of: "ann", price: 0),
            paid("1", "2023-02-05", of: "ann"), paid("2", "2023-02-10", of: nil),
            Shop.entry(
                "3", at: noon("2023-02-20"), days: nil, product: "coins", kind: .consumable
            ) { $0.appAccountToken = OrderDatabase.token("cy") },
            paid("4", "2023-02-25", of: "dee"), paid("5", "2023-03-25", of: "cy"))
    }

    private static func lines(_ database: FigureDatabase) async throws -> [String] {
        try await database.settle()
        #expect(try await database.differences().isEmpty)
        return try await database.lines(.freeToPaid, "2023-01-01", "2023-03-31", by: .month)
    }

    @Test("first payments, accounts without one before, and rows; no free periods, and no purchases without an account")
    func worked() async throws {
        try await FigureDatabase.with { database in
            try await Self.fill(database)
            #expect(
                try await Self.lines(database)
                    == ["2023-01-01 0 0 2 2", "2023-02-01 75000 3 4 2", "2023-03-01 0 0 1 0"])
            #expect(
                try await database.lines(.freeToPaid, "2023-02-19", "2023-02-20")
                    == ["2023-02-19 0 0 2 0", "2023-02-20 50000 1 2 0"])
            let question = try database.question(.freeToPaid, "2023-02-01", by: .month)
            #expect(try await database.rows(FigureRowQuestion(question)).map(\.transactionID) == ["1", "3", "4"])
            #expect(try await database.rows(FigureRowQuestion(question), limit: 1).count == 3)
            #expect(throws: FigureQuestion.NoSplit.self) {
                try database.question(.freeToPaid, "2023-01-01", by: .month, .app).check()
            }
            #expect(throws: FigureQuestion.NoSplit.self) {
                try database.question(.freeToPaid, "2023-01-01", by: .month, apps: [Shop.app]).check()
            }
        }
    }

    @Test("a payment that arrives late is the first one, also in place of another; a refund changes nothing")
    func heardLate() async throws {
        try await FigureDatabase.with { database in
            try await Self.fill(database)
            _ = try await Self.lines(database)
            try await database.hear(
                Self.paid("6", "2023-01-25", of: "ann"),
                Self.paid("4", "2023-02-25", of: "dee") {
                    ($0.signedDate, $0.revocationDate) = (Self.noon("2024-02-25"), Self.noon("2024-02-25"))
                })
            #expect(
                try await Self.lines(database)
                    == ["2023-01-01 50000 1 2 2", "2023-02-01 66667 2 3 2", "2023-03-01 0 0 1 0"])
        }
    }

    @Test("an account that is erased leaves no number, and a purchase that several accounts had is the payment of none")
    func erased() async throws {
        try await FigureDatabase.with { database in
            try await Self.fill(database)
            _ = try await Self.lines(database)
            #expect(try await EvidencePipeline(database.site.pool).erase("dee", by: "staff") != nil)
            #expect(
                try await Self.lines(database)
                    == ["2023-01-01 0 0 2 2", "2023-02-01 66667 2 3 1", "2023-03-01 0 0 1 0"])
            try await database.hear(Self.paid("1", as: "1b", "2023-03-07", of: "bob"))
            #expect(
                try await Self.lines(database)
                    == ["2023-01-01 0 0 2 2", "2023-02-01 33333 1 3 1", "2023-03-01 0 0 2 0"])
        }
    }

    @Test("what is paid before an account is known is of that day: the day of an import looks for no payments")
    func early() async throws {
        try await FigureDatabase.with { database in
            try await database.site.pool.withTransaction {
                try $0.executeScript(
                    """
                    create table storehook.scans (count bigint);
                    create function storehook.note_scans() returns trigger language plpgsql as
                    'begin
                         insert into storehook.scans
                         select coalesce(idx_scan, 0) from pg_stat_xact_user_tables where relid = ''storehook.account_lines''::regclass;
                         return null;
                     end';
                    create trigger note after insert on storehook.figure_cells for each statement execute function storehook.note_scans();
                    insert into storehook.accounts (token, known_at) select gen_random_uuid(), '2023-02-10 06:00Z' from generate_series(1, 5000);
                    -- Or else the next transactions of this session would report what this one has read.
                    select pg_stat_force_next_flush();
                    """)
            }
            // On the day itself, a month before it, and after it.
            for account in ["ann", "bob", "cy"] { try await Self.know(database, account, since: "2023-02-10") }
            try await database.hear(
                Shop.entry("1", at: Self.noon("2023-02-10").adding(seconds: -60)) {
                    $0.appAccountToken = OrderDatabase.token("ann")
                },
                Self.paid("2", "2023-01-10", of: "bob"), Self.paid("3", "2023-03-10", of: "cy"))
            #expect(
                try await Self.lines(database)
                    == ["2023-01-01 100000 1 1 1", "2023-02-01 20 1 5002 5002", "2023-03-01 20 1 5001 0"])
            #expect(
                try await database.site.texts(
                    "select day || ' ' || rate_day || ' ' || count from storehook.figure_cells where measure = 'account_early' order by 1"
                ) == ["2023-01-10 2023-02-10 1", "2023-02-10 2023-02-10 1"])
            #expect(try await database.site.value("select max(count) between 1 and 2500 from storehook.scans"))
        }
    }

    @Test("accounts are of each environment, and payments of their own")
    func environments() async throws {
        try await FigureDatabase.with { database in
            try await Self.know(database, "ann", since: "2023-01-10")
            try await database.hear(Self.paid("1", "2023-01-15", of: "ann", environment: "Sandbox"))
            try await database.settle()
            #expect(try await database.lines(.freeToPaid, "2023-01-01", by: .month) == ["2023-01-01 0 0 1 1"])
            #expect(
                try await database.lines(.freeToPaid, "2023-01-01", by: .month, environment: "Sandbox")
                    == ["2023-01-01 100000 1 1 1"])
        }
    }
}
