/// The triggers that mark the days whose figures are to be summed again.
enum FigureTriggers {
    /// A script that turns all of them on or off.
    /// - Parameter verb: `enable` or `disable`.
    static func script(_ verb: String) -> String {
        """
        do $$
        declare
            one record;
        begin
            for one in
                select t.tgrelid::regclass as of, t.tgname as name
                  from pg_trigger t join pg_proc p on p.oid = t.tgfoid
                 where p.pronamespace = 'storehook'::regnamespace and p.proname like 'mark\\_figures\\_%'
            loop
                execute format('alter table %s \(verb) trigger %I', one.of, one.name);
            end loop;
        end
        $$;
        """
    }
}
