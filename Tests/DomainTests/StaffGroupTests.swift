import Staff
import Testing

/// `STOREHOOK_CONSOLE_GROUPS`: what each group of a company's login may do.
struct StaffGroupTests {
    private static let groups = [
        "ops=admin", "help=support:com.a|com.b", "more=support:com.c", "all=support", "look=viewer:com.a",
        "CN=Desk,O=Us=viewer",
    ]

    @Test(
        "Somebody in several groups has the highest role, of all apps whose groups have it",
        arguments: [
            (["ops", "look"], StaffRole.admin, nil), (["help"], .support, ["com.a", "com.b"]),
            (["help", "more", "look"], .support, ["com.a", "com.b", "com.c"]), (["help", "all"], .support, nil),
            (["look", "other"], .viewer, ["com.a"]), (["CN=Desk,O=Us"], .viewer, nil),
        ] as [([String], StaffRole, [String]?)])
    func standing(groups: [String], role: StaffRole, apps: [String]?) throws {
        let standing = try StaffGroups(Self.groups).standing(of: groups)
        #expect(standing == StaffGroups.Standing(role: role, apps: apps))
    }

    @Test("Nobody has a role by a group that is not there, and their names count as they are")
    func unknown() throws {
        let groups = try StaffGroups(Self.groups)
        for named in [[], [""], ["OPS"], ["ops "], ["ops=admin"], ["support"]] {
            #expect(groups.standing(of: named) == nil, "\(named)")
        }
        #expect(groups.apps == ["com.a", "com.b", "com.c"])
    }

    @Test("An entry that is none is named by its place")
    func faults() {
        for (entries, place) in [
            ([], 0), (["ops"], 1), (["=admin"], 1), (["ops=boss"], 1), (["ops=admin", "x=support:"], 2),
            (["ops=admin", "x=support:com.a|"], 2), (["ops=admin", "ops=viewer"], 2), (["a=Admin"], 1),
        ] as [([String], Int)] {
            do {
                _ = try StaffGroups(entries)
                Issue.record("\(entries) are taken")
            } catch {
                #expect(error.place == place, "\(entries)")
            }
        }
    }
}
